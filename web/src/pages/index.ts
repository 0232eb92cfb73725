/** Every page there is. A new one is a folder and a line here; one without a title is not in the navigation. */
import {
  ChartLine,
  GitPullRequest,
  Inbox,
  type LucideIcon,
  Rows3,
  Scale,
  Waypoints,
  Wrench,
} from "lucide-react";
import { type LazyExoticComponent, lazy } from "react";

export type Page = {
  path: string;
  title?: string;
  icon?: LucideIcon;
  /** The single key that leads there. */
  shortcut?: string;
  /** Not in the navigation before there is a session of this workflow. */
  workflow?: string;
  Page: LazyExoticComponent<() => React.ReactNode>;
};

export const PAGES: readonly Page[] = [
  {
    path: "/inbox",
    title: "Inbox",
    icon: Inbox,
    shortcut: "g",
    Page: lazy(() => import("./inbox/InboxPage")),
  },
  {
    path: "/sessions",
    title: "Sessions",
    icon: Rows3,
    shortcut: "s",
    Page: lazy(() => import("./sessions/SessionsPage")),
  },
  { path: "/sessions/$id", Page: lazy(() => import("./session/SessionPage")) },
  {
    path: "/changes",
    title: "Changes",
    icon: GitPullRequest,
    shortcut: "c",
    workflow: "change",
    Page: lazy(() => import("./changes/ChangesPage")),
  },
  { path: "/changes/$id", Page: lazy(() => import("./change/ChangePage")) },
  {
    path: "/graph",
    title: "Graph",
    icon: Waypoints,
    shortcut: "m",
    Page: lazy(() => import("./graph/GraphsPage")),
  },
  { path: "/graph/$id", Page: lazy(() => import("./graph/GraphPage")) },
  {
    path: "/tools",
    title: "Tools",
    icon: Wrench,
    shortcut: "t",
    Page: lazy(() => import("./tools/ToolsPage")),
  },
  {
    path: "/policy",
    title: "Policy",
    icon: Scale,
    shortcut: "p",
    Page: lazy(() => import("./policy/PolicyPage")),
  },
  {
    path: "/figures",
    title: "Figures",
    icon: ChartLine,
    shortcut: "f",
    Page: lazy(() => import("./figures/FiguresPage")),
  },
];
