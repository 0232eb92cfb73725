/**
 * What a tool says it would do, for the kinds that are worth a face of their own. Pure.
 * One that has more or other members than are shown here is not read: it is then shown as it stands, and hides nothing.
 */

export type Command = {
  kind: "command";
  argv: readonly string[];
  folder: string;
  env: Readonly<Record<string, string>>;
  hosts: readonly string[];
  sandbox: string;
};
export type Letter = {
  kind: "letter";
  from: string;
  to: readonly string[];
  cc: readonly string[];
  bcc: readonly string[];
  replyTo: string | null;
  subject: string;
  text: string;
  html: string | null;
  attachments: readonly Attachment[];
};
export type Attachment = { path: string; name: string; contentType: string; bytes: number; sha256: string };
export type Notice = {
  kind: "notice";
  target: string;
  service: string;
  level: string;
  title: string | null;
  text: string;
};
export type OnPage = { kind: "page"; page: string; element: string };
export type Preview = Command | Letter | Notice | OnPage;

type Members = Record<string, unknown>;

export function readPreview(preview: unknown): Preview | null {
  if (!isObject(preview)) return null;
  return readCommand(preview) ?? readLetter(preview) ?? readNotice(preview) ?? readPage(preview);
}

/** What /bin/sh is given to read, or null for words that no shell reads. */
export function lineForShell(argv: readonly string[]): string | null {
  const [shell, flag, line] = argv;
  return argv.length === 3 && shell === "/bin/sh" && flag === "-c" && line !== undefined ? line : null;
}

/** The words as one would have to type them, so that it is plain where each begins and ends. */
export function quoted(argv: readonly string[]): string {
  return argv
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(" ");
}

function readCommand(given: Members): Command | null {
  const { argv, folder, env, hosts, sandbox } = given;
  const isRead =
    hasOnly(given, "argv", "folder", "env", "hosts", "sandbox") &&
    areTexts(argv) &&
    isText(folder) &&
    isObject(env) &&
    Object.values(env).every(isText) &&
    areTexts(hosts) &&
    isText(sandbox);
  return isRead
    ? { kind: "command", argv, folder, env: env as Record<string, string>, hosts, sandbox }
    : null;
}

function readLetter(given: Members): Letter | null {
  const { from, to, cc = [], bcc = [], reply_to = null, subject, text, html = null, attachments } = given;
  const files = Array.isArray(attachments) ? attachments.map(readAttachment) : [null];
  const isRead =
    hasOnly(given, "from", "to", "cc", "bcc", "reply_to", "subject", "text", "html", "attachments") &&
    isText(from) &&
    areTexts(to) &&
    areTexts(cc) &&
    areTexts(bcc) &&
    isTextOrNull(reply_to) &&
    isText(subject) &&
    isText(text) &&
    isTextOrNull(html) &&
    files.every((file) => file !== null);
  if (!isRead) return null;
  return { kind: "letter", from, to, cc, bcc, replyTo: reply_to, subject, text, html, attachments: files };
}

function readAttachment(given: unknown): Attachment | null {
  if (!isObject(given) || !hasOnly(given, "path", "name", "content_type", "bytes", "sha256")) return null;
  const { path, name, content_type: contentType, bytes, sha256 } = given;
  const isRead =
    isText(path) && isText(name) && isText(contentType) && typeof bytes === "number" && isText(sha256);
  return isRead ? { path, name, contentType, bytes, sha256 } : null;
}

function readNotice(given: Members): Notice | null {
  const { target, kind: service, level, title = null, text } = given;
  const isRead =
    hasOnly(given, "target", "kind", "level", "title", "text") &&
    isText(target) &&
    isText(service) &&
    isText(level) &&
    isTextOrNull(title) &&
    isText(text);
  return isRead ? { kind: "notice", target, service, level, title, text } : null;
}

function readPage(given: Members): OnPage | null {
  const { page, element } = given;
  const isRead = hasOnly(given, "page", "element") && isText(page) && isText(element);
  return isRead ? { kind: "page", page, element } : null;
}

function hasOnly(given: Members, ...names: readonly string[]): boolean {
  return Object.keys(given).every((name) => names.includes(name));
}

const isObject = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === "string";
const isTextOrNull = (value: unknown): value is string | null => value === null || isText(value);
const areTexts = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every(isText);
