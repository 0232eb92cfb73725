import { useQuery } from "@tanstack/react-query";
import { Plus, Scale } from "lucide-react";
import { useState } from "react";
import { Foreign } from "@/panels/policy/Foreign";
import { Proposals } from "@/panels/policy/Proposals";
import { Review } from "@/panels/policy/Review";
import { RuleForm } from "@/panels/policy/RuleForm";
import { RuleLine } from "@/panels/policy/RuleLine";
import { RuleList } from "@/panels/policy/RuleList";
import { areSame, nameOf } from "@/panels/policy/rules";
import { Button } from "@/parts/Button";
import { Empty, Failed, Loading } from "@/parts/Faces";
import { policyQuery } from "@/wire/queries";
import type { Policy, Rule } from "@/wire/types";

/** What calls may do: a person's rules, then those that hold where none of them fits. */
export default function PolicyPage() {
  const policy = useQuery(policyQuery);
  return (
    <div className="mx-auto grid max-w-4xl gap-4 p-3 sm:p-5">
      {policy.isPending ? <Loading what="the rules" /> : null}
      {policy.isError && !policy.data ? (
        <Failed error={policy.error} retry={() => void policy.refetch()} />
      ) : null}
      {policy.data ? <Rules policy={policy.data} /> : null}
    </div>
  );
}

/** What is being changed, and the rules that it began from. */
type Draft = { from: readonly Rule[]; rules: readonly Rule[] };
type Editing = { place: number; rule: Rule | null };

function Rules({ policy }: { policy: Policy }) {
  const { rules: saved, defaults = [], foreign = [] } = policy;
  const [draft, setDraft] = useState<Draft | null>(null);
  const [editing, setEditing] = useState<Editing | null>(null);
  const [isReviewed, setReviewed] = useState(false);
  const rules = draft?.rules ?? saved;
  const from = draft?.from ?? saved;
  const isChanged = !areSame(from, rules);
  const change = (next: readonly Rule[]) => setDraft({ from, rules: next });
  const discard = () => {
    setDraft(null);
    setReviewed(false);
  };
  return (
    <>
      <header className="flex flex-wrap items-center gap-2">
        <h1 className="flex-1 text-lg font-semibold">Policy</h1>
        <Button onClick={() => setEditing({ place: 0, rule: null })}>
          <Plus aria-hidden="true" className="size-4" />
          Add a rule
        </Button>
      </header>
      {foreign.length > 0 ? <Foreign rules={foreign} onTake={() => change([...foreign])} /> : null}
      {isChanged ? (
        <Unsaved isOutdated={!areSame(from, saved)} onReview={() => setReviewed(true)} onDiscard={discard} />
      ) : null}
      <section aria-label="Your rules" className="grid gap-2">
        <h2 className="font-medium">Your rules</h2>
        <p className="text-muted">The first that fits decides; a deny wins wherever it stands.</p>
        {rules.length === 0 ? (
          <Empty icon={Scale} title="No rules of yours">
            The ones below hold. Add a rule for what you are tired of being asked, or never want.
          </Empty>
        ) : (
          <RuleList
            rules={rules}
            saved={saved}
            onChange={change}
            onEdit={(place) => setEditing({ place, rule: rules[place] ?? null })}
          />
        )}
      </section>
      <Proposals rules={rules} onAdd={(rule) => change([rule, ...rules])} />
      <section aria-label="Defaults" className="grid gap-2">
        <h2 className="font-medium">Where none of yours fits</h2>
        <ol className="divide-y divide-line/60 rounded-lg border bg-panel">
          {defaults.map((rule) => (
            <li key={nameOf(rule)} className="flex px-3 py-1.5 pl-10">
              <RuleLine rule={rule} />
            </li>
          ))}
        </ol>
        <p className="text-muted">What no rule is about is asked.</p>
      </section>
      {editing ? (
        <RuleForm
          rule={editing.rule}
          onClose={() => setEditing(null)}
          onDone={(rule) => {
            change(rules.toSpliced(editing.place, editing.rule ? 1 : 0, rule));
            setEditing(null);
          }}
        />
      ) : null}
      {isReviewed ? (
        <Review saved={from} wanted={rules} onSaved={discard} onClose={() => setReviewed(false)} />
      ) : null}
    </>
  );
}

type UnsavedProps = { isOutdated: boolean; onReview: () => void; onDiscard: () => void };

function Unsaved({ isOutdated, onReview, onDiscard }: UnsavedProps) {
  return (
    <div role="status" className="flex flex-wrap items-center gap-2 rounded-md bg-live-soft px-3 py-2">
      <p className="flex-1 text-live">
        {isOutdated
          ? "The rules were changed elsewhere meanwhile. Discard your changes to see them."
          : "Your changes do not hold yet."}
      </p>
      <Button look="primary" disabled={isOutdated} onClick={onReview}>
        Try and save…
      </Button>
      <Button onClick={onDiscard}>Discard</Button>
    </div>
  );
}
