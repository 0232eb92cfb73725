/** What every panel of a session's page is given. */
import type { LiveSession, Working } from "@/session/live";

export type SessionPanelProps = { live: Working; session: LiveSession };
