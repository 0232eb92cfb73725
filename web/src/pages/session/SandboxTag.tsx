import { Tag } from "@/parts/Tag";

const RUNGS: Record<string, { word: string; about: string }> = {
  none: { word: "no sandbox", about: "Its commands run with all the powers of the server" },
  missing: {
    word: "no commands",
    about: "Commands are not run: they are switched off, or no sandbox works on the server",
  },
};

/** What confines the commands of this session. */
export function SandboxTag({ rung }: { rung: string | null }) {
  if (rung === null) return null;
  const { word, about } = RUNGS[rung] ?? { word: rung, about: `Its commands run in a sandbox: ${rung}` };
  return (
    <span title={about}>
      <Tag tone={rung === "none" ? "bad" : "quiet"}>
        <span className="sr-only">Sandbox:&nbsp;</span>
        {word}
      </Tag>
    </span>
  );
}
