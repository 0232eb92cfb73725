/** The whole page at an address, on a server that stands in for the real one. */
import { QueryClientProvider } from "@tanstack/react-query";
import { createMemoryHistory, RouterProvider } from "@tanstack/react-router";
import { render } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { makeRouter } from "@/frame/router";
import { makeQueries } from "@/wire/queries";

export function open(address: string) {
  const history = createMemoryHistory({ initialEntries: [address] });
  const queries = makeQueries();
  const user = userEvent.setup();
  const shown = render(
    <QueryClientProvider client={queries}>
      <RouterProvider router={makeRouter(history)} />
    </QueryClientProvider>,
  );
  return { ...shown, user, history };
}
