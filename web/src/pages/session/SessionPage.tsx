import { useLocation, useParams, useSearch } from "@tanstack/react-router";
import { Failed, Loading } from "@/parts/Faces";
import { useSession } from "@/session/useSession";
import { SessionWorking } from "./SessionWorking";

/** One session: what it does, what it asks, what happened. */
export default function SessionPage() {
  const { id = "" } = useParams({ strict: false }) as { id?: string };
  return <Followed key={id} id={id} />;
}

function Followed({ id }: { id: string }) {
  const { live, session } = useSession(id);
  const { request } = useSearch({ strict: false }) as { request?: string };
  const { hash } = useLocation();
  const wanted = /^event-(\d+)$/.exec(hash)?.[1];
  if (live.face === "loading") return <Loading what="the session" />;
  if (live.face === "failed") {
    return (
      <>
        <h1 className="sr-only">Session</h1>
        <Failed error={live.problem} retry={session.retry} />
      </>
    );
  }
  return (
    <SessionWorking
      live={live}
      session={session}
      wanted={wanted === undefined ? null : Number(wanted)}
      request={request ?? null}
    />
  );
}
