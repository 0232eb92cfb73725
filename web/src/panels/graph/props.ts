/** What the panels of a graph are given. */
import type { Repository } from "@/wire/types";
import type { Change, Choose } from "./useView";
import type { GraphView } from "./view";

export type OfGraph = { repo: Repository; view: GraphView; change: Change; choose: Choose };
export type OfNode = OfGraph & { node: string };
