/** Addresses to pages; the table is in pages/index.ts. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  Link,
  parseSearchWith,
  type RouterHistory,
  redirect,
  stringifySearchWith,
} from "@tanstack/react-router";
import { Compass } from "lucide-react";
import { PAGES } from "@/pages";
import { Empty, Failed } from "@/parts/Faces";
import { Frame } from "./Frame";

const root = createRootRoute({
  component: Frame,
  notFoundComponent: () => (
    <Empty icon={Compass} title="There is no such page">
      <Link to="/inbox" className="text-accent underline">
        Go to the inbox
      </Link>
    </Empty>
  ),
  errorComponent: ({ error, reset }) => <Failed error={error} retry={reset} />,
});

const home = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/inbox", replace: true });
  },
});

const pages = PAGES.map(({ path, Page }) =>
  createRoute({
    getParentRoute: () => root,
    path,
    component: Page,
    errorComponent: ({ error, reset }) => <Failed error={error} retry={reset} />,
  }),
);

/** Search parameters are plain texts: an id that looks like a number stays what it is. */
export const makeRouter = (history?: RouterHistory) =>
  createRouter({
    history,
    routeTree: root.addChildren([home, ...pages]),
    parseSearch: parseSearchWith((text) => text),
    stringifySearch: stringifySearchWith(String),
    scrollRestoration: false,
  });
