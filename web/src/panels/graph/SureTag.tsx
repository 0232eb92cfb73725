import { Tag } from "@/parts/Tag";
import type { Sureness } from "@/wire/types";
import { SURENESS_WORDS } from "./words";

/** How sure a link is, where that is worth a word. */
export function SureTag({ confidence }: { confidence: Sureness }) {
  if (confidence === "resolved") return null;
  return <Tag tone={confidence === "inferred" ? "live" : "warn"}>{SURENESS_WORDS[confidence]}</Tag>;
}
