/** The stages in words that a person uses. */
import type { Stage } from "@/wire/change";

export const STAGE_WORDS: Record<Stage, string> = {
  intent_extraction: "Intent",
  pkg_query: "Code graph",
  impact_analysis: "Impact",
  planning: "Plan",
  editing: "Edits",
  testing: "Tests",
  verification: "Verification",
  pr_creation: "Pull request",
};
