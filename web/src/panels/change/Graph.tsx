import { Background, Controls, type Edge, type Node, Position, ReactFlow } from "@xyflow/react";
import { useMemo } from "react";
import "@xyflow/react/dist/style.css";
import "./graph.css";
import { visibleLine } from "@/parts/visible";
import type { Impact, Module } from "@/wire/change";
import { HEIGHT, laidOut, type Placed, WIDTH } from "./layout";

/** How far the change reaches. The list below it says the same in words. */
export default function Graph({ impact }: { impact: Impact }) {
  const { nodes, edges } = useMemo(() => drawn(impact), [impact]);
  return (
    <section className="h-80 rounded-md border bg-ground" aria-label="What the change reaches">
      <ReactFlow
        nodes={nodes}
        edges={edges}
        fitView
        minZoom={0.1}
        nodesDraggable={false}
        nodesConnectable={false}
        nodesFocusable={false}
        edgesFocusable={false}
        elementsSelectable={false}
        preventScrolling={false}
        zoomOnScroll={false}
      >
        <Background color="var(--line)" />
        <Controls showInteractive={false} />
      </ReactFlow>
    </section>
  );
}

function drawn(impact: Impact): { nodes: Node[]; edges: Edge[] } {
  const { placed, edges, isAcross } = laidOut(impact);
  return {
    nodes: placed.map((one) => nodeOf(one, isAcross)),
    edges: edges.map(([source, target]) => ({
      id: `${source}\n${target}`,
      source,
      target,
      style: { stroke: "var(--muted)" },
    })),
  };
}

function nodeOf({ module, x, y }: Placed, isAcross: boolean): Node {
  return {
    id: module.name,
    position: { x, y },
    width: WIDTH,
    height: HEIGHT,
    sourcePosition: isAcross ? Position.Right : Position.Bottom,
    targetPosition: isAcross ? Position.Left : Position.Top,
    data: { label: shortened(visibleLine(module.name)) },
    style: { ...lookOf(module), padding: 8, fontSize: 12, overflow: "hidden", whiteSpace: "nowrap" },
  };
}

function lookOf({ distance, isTest }: Module) {
  if (distance === 0)
    return { background: "var(--warn-soft)", color: "var(--ink)", borderColor: "var(--warn)" };
  if (isTest) return { background: "var(--ok-soft)", color: "var(--ink)", borderColor: "var(--ok)" };
  return { background: "var(--panel)", color: "var(--ink)", borderColor: "var(--line)" };
}

/** The end of a module's name tells it apart. */
const shortened = (name: string) => (name.length > 24 ? `…${name.slice(-23)}` : name);
