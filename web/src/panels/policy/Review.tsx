import { useMutation, useQueries, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { toast } from "sonner";
import { Button } from "@/parts/Button";
import { Dialog } from "@/parts/Dialog";
import { Failed } from "@/parts/Faces";
import { policy, savePolicy } from "@/wire/client";
import { ProblemError } from "@/wire/problem";
import { policyQuery, trialQuery } from "@/wire/queries";
import type { Rule, TrialResult } from "@/wire/types";
import { RuleLine } from "./RuleLine";
import { areSame, changesOf } from "./rules";

type Props = { saved: readonly Rule[]; wanted: readonly Rule[]; onSaved: () => void; onClose: () => void };

const PARTS = [
  { name: "added", title: "New" },
  { name: "raised", title: "Asked earlier than before" },
  { name: "removed", title: "No longer there" },
] as const;

/** What the change would have meant for the past, before it holds; what was rejected is asked about once more. */
export function Review({ saved, wanted, onSaved, onClose }: Props) {
  const queries = useQueryClient();
  const [isMeant, setMeant] = useState(false);
  const changes = changesOf(saved, wanted);
  const concerned = PARTS.flatMap(({ name }) => changes[name].map((rule) => ({ rule, part: name })));
  const trials = useQueries({ queries: concerned.map(({ rule }) => trialQuery(rule)) });
  const failed = trials.find((trial) => trial.isError);
  const isKnown = trials.every((trial) => trial.isSuccess && !trial.isFetching);
  const rejected = trials.reduce(
    (sum, { data }, place) => sum + (concerned[place]?.part === "removed" ? 0 : passedAgainst(data)),
    0,
  );
  const saving = useMutation({
    mutationFn: () => saveIfStill(saved, wanted),
    onSuccess: (now) => {
      queries.setQueryData(policyQuery.queryKey, now);
      toast("Saved. The rules count from the next call on.");
      onSaved();
    },
    onError: () => void queries.invalidateQueries({ queryKey: policyQuery.queryKey }),
  });
  return (
    <Dialog isOpen isWide onClose={onClose} title="Save the rules?" about="Tried on the calls of the past.">
      <div className="grid gap-4">
        {PARTS.filter(({ name }) => changes[name].length > 0).map(({ name, title }) => (
          <section key={name} aria-label={title}>
            <h3 className="text-xs font-medium text-muted">{title}</h3>
            <ul className="mt-1 divide-y divide-line/60 rounded-md border">
              {concerned.map(({ rule, part }, place) =>
                part === name ? (
                  // biome-ignore lint/suspicious/noArrayIndexKey: the list does not change while it is shown
                  <li key={place} className="grid gap-1 px-3 py-2">
                    <RuleLine rule={rule} />
                    <Sentence trial={trials[place]?.data} isGone={part === "removed"} />
                  </li>
                ) : null,
              )}
            </ul>
          </section>
        ))}
        {concerned.length === 0 ? <p className="text-muted">Only the order changes.</p> : null}
        {failed ? <Failed error={failed.error} retry={() => void failed.refetch()} /> : null}
        {rejected > 0 ? <AskAgain count={rejected} isMeant={isMeant} onMeant={setMeant} /> : null}
        {saving.error ? <Failed error={saving.error} /> : null}
        <div className="flex gap-2">
          <Button
            look={rejected > 0 ? "danger" : "primary"}
            disabled={!isKnown || saving.isPending || (rejected > 0 && !isMeant)}
            onClick={() => saving.mutate()}
          >
            {saving.isPending ? "Saving…" : isKnown || failed ? "Save" : "Trying…"}
          </Button>
          <Button onClick={onClose}>Back</Button>
        </div>
      </div>
    </Dialog>
  );
}

function Sentence({ trial, isGone }: { trial: TrialResult | undefined; isGone: boolean }) {
  if (trial === undefined) return <p className="text-xs text-muted">Trying it on the past…</p>;
  const isGrave = !isGone && passedAgainst(trial) > 0;
  return <p className={`text-xs ${isGrave ? "font-medium text-bad" : "text-muted"}`}>{trial.words}</p>;
}

type AskAgainProps = { count: number; isMeant: boolean; onMeant: (isMeant: boolean) => void };

function AskAgain({ count, isMeant, onMeant }: AskAgainProps) {
  return (
    <div role="alert" className="grid gap-2 rounded-md border border-bad bg-bad-soft p-3">
      <p className="text-bad">
        It would have passed {count === 1 ? "1 call" : `${count.toLocaleString()} calls`} that you rejected.
        Make the rule narrower, or say that you mean it.
      </p>
      <label className="flex items-center gap-2">
        <input
          type="checkbox"
          checked={isMeant}
          onChange={(event) => onMeant(event.target.checked)}
          className="size-4 accent-accent"
        />
        I mean it, although I rejected such calls
      </label>
    </div>
  );
}

/** How many rejected calls the rule would have let pass. */
function passedAgainst(trial: TrialResult | undefined): number {
  return trial?.rule.verdict === "allow" ? (trial.rejected ?? 0) : 0;
}

/** Save, unless the rules are no longer those that the person looked at. */
async function saveIfStill(seen: readonly Rule[], wanted: readonly Rule[]) {
  const now = await policy();
  if (!areSame(now.rules, seen)) {
    throw new ProblemError({
      type: "Changed",
      status: 409,
      detail: "The rules were changed elsewhere meanwhile, so nothing was saved.",
      hint: "Go back: the page shows the new ones once you discard your changes.",
    });
  }
  return savePolicy(wanted);
}
