"""What a model that has never seen Belayer reads about the MCP tools, before it calls one."""

INSTRUCTIONS = """Belayer runs agent work as durable sessions with a person in the loop. Start one with engine_start, \
watch it with engine_status, and pass on what the person says with engine_answer and engine_approve. Questions and \
approvals are for the person: never answer or approve on your own. Sessions go on without you and survive restarts."""

START = """Start a durable session: a plan of tool calls, or a named workflow. It is recorded step by step, survives \
crashes and restarts, and stops for a person when it needs an answer or an approval. Returns the session's id, status, \
open requests and, once it has ended, its result. Nothing is lost if you stop watching: call engine_status later.

A plan is {"title"?, "inputs"?: {NAME: default or null}, "parallel"?: 1, "steps": [...]}. A step is {"id", "tool", \
"params", "needs"?: [ids], "when"?: condition, "critical"?: true, "optional"?: false, "fallback"?: {"tool", "params"}, \
"retries"?, "timeout"?, "title"?}. A text in params may use {{input.NAME}} and {{steps.ID.output.path}}. A plan that \
cannot work is refused with all its problems at once, and nothing is run.

Tools that steps can use; ? marks what may be left out:
"""

STATUS = """Look at a session: its status, progress, open requests (with the request_id that engine_answer and \
engine_approve need, and the digest that engine_approve needs), its result or error, and its last events. With \
wait_seconds it waits until the session needs somebody or has ended. Long texts in events are cut; engine_events has \
them whole."""

LIST = """List sessions, newest first, by status, mode, workflow or text in the title. Use status ["waiting"] to find \
what needs a person."""

EVENTS = """Read a session's log: every event after a cursor, in order. Call again with `next` for more; keep the \
last `seq` as the cursor to follow a session."""

ANSWER = """Pass on a person's answer to a question that a session asks (a request of type `request_input` in \
`pending`). Do not make answers up: ask the person, or leave value out to have them asked through your client. The \
session then goes on by itself. The same answer again changes nothing; another one is refused."""

APPROVE = """Pass on a person's decision on an approval (a request of type `approval_request` in `pending`). A person \
must decide, never you: show them title, shown and digest as they are, and pass on what they say. If your client can \
ask them, they are asked through it whatever you pass, and their decision counts. The digest ties the decision to \
exactly what was shown; if that has changed, it is refused and the session asks anew."""

INTERRUPT = """Stop a session's current step now. The session is kept, and engine_resume lets it go on from its last \
recorded outcome."""

RESUME = """Let a session go on that is paused, interrupted or expired, from its last recorded outcome. What has been \
done is not done again. A session that waits for an answer needs engine_answer instead."""

CANCEL = """End a session for good. Its log stays; it cannot be resumed. To stop it for a while, use \
engine_interrupt."""
