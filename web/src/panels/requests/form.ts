/** A form as its JSON Schema has it. Pure; a schema is whatever a workflow's author wrote, so nothing is relied on. */

export type FormField = {
  name: string;
  label: string;
  hint: string | undefined;
  kind: "text" | "number" | "integer" | "boolean" | "choice" | "json";
  choices: readonly unknown[];
  isRequired: boolean;
  initial: string;
};
export type Filled = Record<string, string>;
export type Read = { value: Record<string, unknown>; wrong: Record<string, string> };

export function fieldsOf(schema: unknown): FormField[] {
  const properties = object(object(schema).properties);
  const required = object(schema).required;
  const names = Array.isArray(required) ? required : [];
  return Object.entries(properties).map(([name, field]) =>
    fieldOf(name, object(field), names.includes(name)),
  );
}

/** What was typed, as the types that the schema asks for; fields left empty are left out. */
export function readForm(fields: readonly FormField[], filled: Filled): Read {
  const read: Read = { value: {}, wrong: {} };
  for (const field of fields) {
    const text = filled[field.name] ?? field.initial;
    if (text === "" && field.kind !== "boolean") {
      if (field.isRequired) read.wrong[field.name] = "This is required.";
      continue;
    }
    try {
      read.value[field.name] = typed(field, text);
    } catch (error) {
      read.wrong[field.name] = error instanceof Error ? error.message : String(error);
    }
  }
  return read;
}

function fieldOf(name: string, field: Record<string, unknown>, isRequired: boolean): FormField {
  const choices = Array.isArray(field.enum) ? field.enum : [];
  const kind = choices.length > 0 ? "choice" : kindOf(field.type);
  return {
    name,
    label: text(field.title) ?? name,
    hint: text(field.description),
    kind,
    choices,
    isRequired,
    initial: initialOf(kind, choices, field.default),
  };
}

function initialOf(kind: FormField["kind"], choices: readonly unknown[], given: unknown): string {
  if (kind === "choice") return choices.includes(given) ? String(choices.indexOf(given)) : "";
  if (kind === "boolean") return String(given === true);
  if (given === undefined || given === null) return "";
  return typeof given === "string" && kind !== "json" ? given : JSON.stringify(given);
}

function kindOf(type: unknown): FormField["kind"] {
  switch (type) {
    case "string":
      return "text";
    case "number":
    case "integer":
    case "boolean":
      return type;
    case undefined:
      return "text";
    default:
      return "json";
  }
}

function typed(field: FormField, text: string): unknown {
  switch (field.kind) {
    case "text":
      return text;
    case "boolean":
      return text === "true";
    case "choice":
      return field.choices[Number(text)];
    case "number":
    case "integer":
      return numberOf(field.kind, text);
    case "json":
      try {
        return JSON.parse(text);
      } catch {
        throw new Error("This is not JSON.");
      }
  }
}

function numberOf(kind: "number" | "integer", text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value)) throw new Error("This is not a number.");
  if (kind === "integer" && !Number.isSafeInteger(value)) throw new Error("This must be a whole number.");
  return value;
}

function object(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

const text = (value: unknown) => (typeof value === "string" ? value : undefined);
