/** The API clients of the console. No other module calls the server. */
import { createClient } from '@probity/client'
import { sessionTokens } from './session.ts'

/** Two attempts: a user is better served by an error page with a countdown than by a longer wait. */
export const probity = createClient({ url: '', token: sessionTokens, attempts: 2, longest_pause_ms: 2000 })

/** For requests whose failure is a valid response, such as readiness: no token, one attempt. */
export const probe = createClient({ url: '', attempts: 1, timeout_ms: 5000 })
