/** The console's only way to the server. */
import { createClient } from '@probity/client'
import { sessionTokens } from './session.ts'

/** Two attempts: whoever waits at a screen is better served by a page that says what is wrong and counts down. */
export const probity = createClient({ url: '', token: sessionTokens, attempts: 2, longest_pause_ms: 2000 })

/** For questions whose refusal is itself the answer, such as readiness: no token, one attempt. */
export const probe = createClient({ url: '', attempts: 1, timeout_ms: 5000 })
