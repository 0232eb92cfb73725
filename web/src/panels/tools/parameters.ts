/** What a tool takes, read from its JSON Schema. Pure; a schema is whatever a tool's author wrote, so nothing is relied on. */
import type { ToolView } from "@/wire/types";

export type Parameter = {
  name: string;
  type: string;
  isRequired: boolean;
  about: string | undefined;
  preset: string | undefined;
};

type Schema = Record<string, unknown>;

const DEEPEST = 4;

export function parametersOf(schema: Schema): Parameter[] {
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(object(schema.properties)).map(([name, given]) => {
    const field = followed(object(given), schema);
    return {
      name,
      type: typeOf(field, schema),
      isRequired: required.includes(name),
      about: text(field.description),
      preset: field.default == null ? undefined : JSON.stringify(field.default),
    };
  });
}

/** A step of a plan that calls the tool, with what it cannot do without. */
export function exampleOf(tool: ToolView): object {
  return { id: "example", tool: tool.name, params: example(tool.parameters, tool.parameters) };
}

/** string, string or null, list of integer, one of "a", "b". */
function typeOf(field: Schema, root: Schema, depth = 0): string {
  if (depth > DEEPEST) return "any";
  const inner = (part: unknown) => typeOf(followed(object(part), root), root, depth + 1);
  if ("const" in field) return JSON.stringify(field.const);
  if (Array.isArray(field.enum))
    return `one of ${field.enum.map((value) => JSON.stringify(value)).join(", ")}`;
  const either = field.anyOf ?? field.oneOf;
  if (Array.isArray(either)) return [...new Set(either.map(inner))].join(" or ");
  if (field.type === "array") return field.items ? `list of ${inner(field.items)}` : "list";
  if (Array.isArray(field.type)) return field.type.join(" or ");
  return text(field.type) ?? "any";
}

function example(given: unknown, root: Schema, depth = 0): unknown {
  const field = followed(object(given), root);
  if (Array.isArray(field.examples) && field.examples.length > 0) return field.examples[0];
  if ("default" in field && field.default !== null) return field.default;
  if ("const" in field) return field.const;
  if (Array.isArray(field.enum)) return field.enum[0];
  const either = field.anyOf ?? field.oneOf;
  if (Array.isArray(either) && depth < DEEPEST) return example(either[0], root, depth + 1);
  return depth < DEEPEST ? plainExample(field, root, depth) : null;
}

function plainExample(field: Schema, root: Schema, depth: number): unknown {
  switch (field.type) {
    case "string":
      return "…";
    case "integer":
    case "number":
      return field.minimum ?? 1;
    case "boolean":
      return false;
    case "array":
      return field.items ? [example(field.items, root, depth + 1)] : [];
    case "object":
      return exampleObject(field, root, depth);
    default:
      return field.properties ? exampleObject(field, root, depth) : null;
  }
}

function exampleObject(field: Schema, root: Schema, depth: number): Schema {
  const required = Array.isArray(field.required) ? field.required : [];
  const needed = Object.entries(object(field.properties)).filter(([name]) => required.includes(name));
  return Object.fromEntries(needed.map(([name, part]) => [name, example(part, root, depth + 1)]));
}

/** The field itself, or what it refers to in `$defs`. */
function followed(field: Schema, root: Schema): Schema {
  const name = /^#\/\$defs\/(.+)$/.exec(text(field.$ref) ?? "")?.[1];
  if (name === undefined) return field;
  const { $ref: _, ...own } = field;
  return { ...object(object(root.$defs)[name]), ...own };
}

function object(value: unknown): Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Schema) : {};
}

const text = (value: unknown) => (typeof value === "string" ? value : undefined);
