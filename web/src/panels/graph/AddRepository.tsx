import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "@/parts/Button";
import { Failed } from "@/parts/Faces";
import { Field, INPUT } from "@/parts/Field";
import * as client from "@/wire/client";

/** Name a repository, and its graph is built. */
export function AddRepository({ onBegun }: { onBegun: (session: string) => void }) {
  const [address, setAddress] = useState("");
  const building = useMutation({
    mutationFn: client.generate,
    onSuccess: ({ session_id }) => onBegun(session_id),
  });
  return (
    <form
      className="grid gap-2 rounded-lg border bg-panel p-3"
      onSubmit={(event) => {
        event.preventDefault();
        if (address.trim()) building.mutate(address.trim());
      }}
    >
      <Field
        label="Address or folder"
        hint="An https or ssh address, or a folder on the machine that Belayer runs on."
      >
        {(given) => (
          <div className="flex min-w-0 flex-wrap gap-2">
            <input
              {...given}
              value={address}
              onChange={(event) => setAddress(event.target.value)}
              placeholder="https://git.example.org/shop.git"
              maxLength={2_000}
              autoComplete="off"
              spellCheck={false}
              className={`${INPUT} flex-1 basis-60 font-mono`}
            />
            <Button type="submit" look="primary" disabled={building.isPending || address.trim() === ""}>
              {building.isPending ? "Starting…" : "Build the graph"}
            </Button>
          </div>
        )}
      </Field>
      {building.isError ? (
        <div className="-m-3">
          <Failed error={building.error} />
        </div>
      ) : null}
    </form>
  );
}
