import { useParams } from "@tanstack/react-router";
import { useEffect } from "react";
import { Failed, Loading } from "@/parts/Faces";
import { showProblem } from "@/parts/showProblem";
import { useSession } from "@/session/useSession";
import { asProblem } from "@/wire/problem";
import { ChangeWorking } from "./ChangeWorking";

/** One change of code, from what was asked for to the pull request. */
export default function ChangePage() {
  const { id = "" } = useParams({ strict: false }) as { id?: string };
  return <Followed key={id} id={id} />;
}

function Followed({ id }: { id: string }) {
  const { live, session } = useSession(id);
  const isWorking = live.face === "working";
  // Files and tests are told over the whole log, so all of it is needed.
  useEffect(() => {
    if (isWorking) session.reach(1).catch((error: unknown) => showProblem(asProblem(error)));
  }, [isWorking, session]);
  if (live.face === "loading") return <Loading what="the change" />;
  if (live.face === "failed") return <Failed error={live.problem} retry={session.retry} />;
  return <ChangeWorking live={live} session={session} />;
}
