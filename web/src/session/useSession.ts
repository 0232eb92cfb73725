/** The one hook that owns a session's socket. */
import { useEffect, useMemo, useSyncExternalStore } from "react";
import { type Live, LiveSession } from "./live";

export type Followed = { live: Live; session: LiveSession };

export function useSession(id: string): Followed {
  const session = useMemo(() => new LiveSession(id), [id]);
  useEffect(() => {
    session.start();
    return () => session.stop();
  }, [session]);
  return { live: useSyncExternalStore(session.subscribe, session.get), session };
}
