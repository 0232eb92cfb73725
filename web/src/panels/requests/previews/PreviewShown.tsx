import { CodeBlock } from "@/parts/CodeBlock";
import { visibleLine } from "@/parts/visible";
import { CommandShown } from "./CommandShown";
import { Exact, Fact, Facts, OtherParams } from "./Facts";
import { LetterShown } from "./LetterShown";
import type { Notice, OnPage, Preview } from "./previews";

const OF_NOTICES = ["target", "level", "title", "text"];

/** What a call would do, in the face of its kind; with every parameter that this face does not show by itself. */
export function PreviewShown({ preview, params }: { preview: Preview; params: unknown }) {
  switch (preview.kind) {
    case "command":
      return <CommandShown command={preview} params={params} />;
    case "letter":
      return <LetterShown letter={preview} params={params} />;
    case "notice":
      return <NoticeShown notice={preview} params={params} />;
    case "page":
      return <OnPageShown at={preview} params={params} />;
  }
}

function NoticeShown({ notice, params }: { notice: Notice; params: unknown }) {
  return (
    <>
      <Facts>
        <Fact name="Goes to">
          <strong className="font-semibold">{visibleLine(notice.target)}</strong> (
          {visibleLine(notice.service)})
        </Fact>
        <Fact name="Level">{visibleLine(notice.level)}</Fact>
        {notice.title === null ? null : <Fact name="Title">{visibleLine(notice.title)}</Fact>}
        <OtherParams params={params} shown={OF_NOTICES} />
      </Facts>
      <CodeBlock value={notice.text} label="Text" />
    </>
  );
}

/** What is written, and whether it is sent, are parameters; so all of them stand here. */
function OnPageShown({ at, params }: { at: OnPage; params: unknown }) {
  return (
    <Facts>
      <Fact name="On the page">
        <Exact>{at.page}</Exact>
      </Fact>
      <Fact name="Element">
        {at.element ? (
          <strong className="font-semibold">{visibleLine(at.element)}</strong>
        ) : (
          <span className="text-muted">shows no text</span>
        )}
      </Fact>
      <OtherParams params={params} shown={[]} />
    </Facts>
  );
}
