import { Link, Outlet, useNavigate } from "@tanstack/react-router";
import { Keyboard, Monitor, Moon, Plus, Search, Sun } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { Toaster } from "sonner";
import { useNavigation } from "@/pages/navigation";
import { useAttention } from "@/panels/attention/attention";
import { Button } from "@/parts/Button";
import { Loading } from "@/parts/Faces";
import { useKeys } from "@/parts/keys";
import { KeyboardHelp } from "./KeyboardHelp";
import { OfflineBanner } from "./OfflineBanner";
import { useTheme } from "./theme";

const StartDialog = lazy(() => import("@/panels/start/StartDialog"));
const Palette = lazy(() => import("@/panels/palette/Palette"));
const THEME_ICONS = { system: Monitor, light: Sun, dark: Moon };

type Opened = "start" | "palette" | "keyboard" | null;

/** What is around every page: where one can go, what waits, how it looks. */
export function Frame() {
  const waiting = useAttention();
  const [opened, setOpened] = useState<Opened>(null);
  const [theme, nextTheme] = useTheme();
  const navigate = useNavigate();
  const pages = useNavigation();
  const close = () => setOpened(null);
  useKeys({
    "mod+k": () => setOpened("palette"),
    n: () => setOpened("start"),
    "?": () => setOpened("keyboard"),
    ...Object.fromEntries(
      pages.map(({ shortcut = "", path }) => [shortcut, () => void navigate({ to: path })]),
    ),
  });
  const ThemeIcon = THEME_ICONS[theme];
  return (
    <div className="flex h-full flex-col max-md:pb-[calc(3.25rem+env(safe-area-inset-bottom))]">
      <a
        href="#main"
        className="absolute -top-20 left-2 z-50 rounded bg-accent px-3 py-2 text-accent-ink focus:top-2"
      >
        Skip to the page
      </a>
      <OfflineBanner />
      <header className="flex items-center gap-1 border-b bg-panel px-2 py-1.5 sm:gap-2 sm:px-4">
        <span className="pr-2 font-semibold max-md:flex-1 max-md:pl-1">Belayer</span>
        {/* On a phone the pages are at the bottom, all of them in sight and with their names. */}
        <nav
          aria-label="Pages"
          className="flex min-w-0 gap-0.5 max-md:fixed max-md:inset-x-0 max-md:bottom-0 max-md:z-30 max-md:border-t max-md:bg-panel max-md:px-1 max-md:pb-[env(safe-area-inset-bottom)] md:flex-1 md:overflow-x-auto"
        >
          {pages.map(({ path, title, icon: Icon }) => (
            <Link
              key={path}
              to={path}
              title={title}
              className="relative flex min-h-8 items-center gap-1.5 rounded-md px-2 py-1 text-muted -outline-offset-2 hover:bg-raised hover:text-ink aria-[current=page]:bg-raised aria-[current=page]:font-medium aria-[current=page]:text-ink max-md:my-0.5 max-md:h-12 max-md:min-w-0 max-md:flex-1 max-md:flex-col max-md:justify-center max-md:gap-0.5 max-md:px-0"
            >
              {Icon ? <Icon aria-hidden="true" className="size-4 max-md:size-5" /> : null}
              <span className="max-md:max-w-full max-md:truncate max-md:text-[0.6875rem] max-md:leading-4 md:max-lg:sr-only">
                {title}
              </span>
              {path === "/inbox" && waiting > 0 ? (
                <span className="rounded-full bg-accent px-1.5 text-xs font-semibold text-accent-ink max-md:absolute max-md:top-0.5 max-md:left-1/2 max-md:translate-x-1 max-md:px-1 max-md:leading-4">
                  {waiting}
                  <span className="sr-only"> waiting</span>
                </span>
              ) : null}
            </Link>
          ))}
        </nav>
        <Button
          look="quiet"
          aria-label="Command palette"
          title="Command palette (Ctrl K)"
          onClick={() => setOpened("palette")}
        >
          <Search aria-hidden="true" className="size-4" />
        </Button>
        <Button
          look="quiet"
          className="max-sm:hidden"
          aria-label="Keyboard help"
          title="Keyboard help (?)"
          onClick={() => setOpened("keyboard")}
        >
          <Keyboard aria-hidden="true" className="size-4" />
        </Button>
        <Button look="quiet" aria-label={`Theme: ${theme}`} title={`Theme: ${theme}`} onClick={nextTheme}>
          <ThemeIcon aria-hidden="true" className="size-4" />
        </Button>
        <Button look="primary" aria-label="Start a session" onClick={() => setOpened("start")}>
          <Plus aria-hidden="true" className="size-4" />
          <span className="max-sm:hidden">Start</span>
        </Button>
      </header>
      <main id="main" tabIndex={-1} className="min-h-0 flex-1 overflow-y-auto outline-none">
        <Suspense fallback={<Loading what="the page" />}>
          <Outlet />
        </Suspense>
      </main>
      <Suspense>
        {opened === "start" ? <StartDialog onClose={close} /> : null}
        {opened === "palette" ? <Palette onClose={close} onOpen={setOpened} /> : null}
      </Suspense>
      <KeyboardHelp isOpen={opened === "keyboard"} onClose={close} />
      <Toaster
        position="bottom-right"
        mobileOffset={{ bottom: "4rem" }}
        toastOptions={{ className: "bg-panel! text-ink! border-line!", descriptionClassName: "text-muted!" }}
      />
    </div>
  );
}
