/** Every page there is. A new one is a folder and a line here; one without a title is not in the navigation. */
import { Inbox, type LucideIcon, Rows3 } from "lucide-react";
import { type LazyExoticComponent, lazy } from "react";

export type Page = {
  path: string;
  title?: string;
  icon?: LucideIcon;
  Page: LazyExoticComponent<() => React.ReactNode>;
};

export const PAGES: readonly Page[] = [
  { path: "/inbox", title: "Inbox", icon: Inbox, Page: lazy(() => import("./inbox/InboxPage")) },
  { path: "/sessions", title: "Sessions", icon: Rows3, Page: lazy(() => import("./sessions/SessionsPage")) },
  { path: "/sessions/$id", Page: lazy(() => import("./session/SessionPage")) },
];
