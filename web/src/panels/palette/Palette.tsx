import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Command } from "cmdk";
import { Keyboard, Plus, Rows3 } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import { useDeferredValue, useState } from "react";
import { useNavigation } from "@/pages/navigation";
import { StatusBadge } from "@/parts/StatusBadge";
import { visibleLine } from "@/parts/visible";
import * as client from "@/wire/client";

type Props = { onClose: () => void; onOpen: (what: "start" | "keyboard") => void };

const ITEM =
  "flex cursor-pointer items-center gap-2 rounded-md px-2 py-1.5 aria-selected:bg-raised data-[selected=true]:bg-raised";

/** Go anywhere, by name. */
export default function Palette({ onClose, onOpen }: Props) {
  const [text, setText] = useState("");
  const q = useDeferredValue(text.trim());
  const navigate = useNavigate();
  const pages = useNavigation();
  const found = useQuery({
    queryKey: ["sessions", "palette", q],
    queryFn: () => client.sessions({ q: q || undefined, limit: 8 }),
    placeholderData: (before) => before,
  });
  const go = (to: string) => {
    onClose();
    void navigate({ to });
  };
  return (
    <Radix.Root open onOpenChange={(open) => (open ? undefined : onClose())}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-black/40" />
        <Radix.Content
          aria-describedby={undefined}
          className="fixed top-[12dvh] left-1/2 z-50 w-[calc(100vw-1.5rem)] max-w-lg -translate-x-1/2 overflow-hidden rounded-lg border bg-panel shadow-xl"
        >
          <Radix.Title className="sr-only">Command palette</Radix.Title>
          <Command label="Command palette">
            <Command.Input
              value={text}
              onValueChange={setText}
              placeholder="Go to a page or a session…"
              className="w-full border-b bg-transparent px-3 py-2.5 -outline-offset-2"
            />
            <Command.List className="max-h-80 overflow-y-auto p-1.5">
              <Command.Empty className="p-3 text-muted">Nothing by that name.</Command.Empty>
              <Command.Group heading={<Heading>Pages and commands</Heading>}>
                {pages.map(({ path, title, icon: Icon }) => (
                  <Command.Item key={path} value={title ?? path} onSelect={() => go(path)} className={ITEM}>
                    {Icon ? <Icon aria-hidden="true" className="size-4 text-muted" /> : null}
                    {title}
                  </Command.Item>
                ))}
                <Command.Item value="Start a session" onSelect={() => onOpen("start")} className={ITEM}>
                  <Plus aria-hidden="true" className="size-4 text-muted" />
                  Start a session
                </Command.Item>
                <Command.Item value="Keyboard help" onSelect={() => onOpen("keyboard")} className={ITEM}>
                  <Keyboard aria-hidden="true" className="size-4 text-muted" />
                  Keyboard help
                </Command.Item>
              </Command.Group>
              <Command.Group heading={<Heading>Sessions</Heading>}>
                {(found.data?.sessions ?? []).map((session) => (
                  <Command.Item
                    key={session.session_id}
                    value={`${session.title} ${session.session_id}`}
                    onSelect={() => go(`/sessions/${session.session_id}`)}
                    className={ITEM}
                  >
                    <Rows3 aria-hidden="true" className="size-4 shrink-0 text-muted" />
                    <span className="min-w-0 flex-1 truncate">{visibleLine(session.title)}</span>
                    <StatusBadge status={session.status} />
                  </Command.Item>
                ))}
              </Command.Group>
            </Command.List>
          </Command>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

function Heading({ children }: { children: string }) {
  return <span className="block px-2 py-1 text-xs font-medium text-muted">{children}</span>;
}
