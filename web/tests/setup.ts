import { cleanup, configure } from "@testing-library/react";
import { afterEach } from "vitest";

// Milliseconds after which a page is not expected to change any more. A guard against hangs, also on a busy machine.
configure({ asyncUtilTimeout: 4_000 });

afterEach(() => {
  cleanup();
  window.localStorage.clear();
});
