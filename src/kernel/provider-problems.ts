/** The part of the catalogue of errors that calls of providers have. */
import type { ProblemType } from './problem-type.ts'

export const providerProblems = {
  provider_credential_missing: {
    status: 424,
    title: "The tenant's credential for an external provider is not configured",
    advice: 'Store a credential for the named provider and repeat the request.',
  },
  provider_refused: {
    status: 409,
    title: 'The provider refused the credential',
    advice:
      'Verify the credential, store and activate a new version of it, and repeat the call. Until then calls answer 424.',
  },
  provider_failed: {
    status: 409,
    title: 'There is no usable answer of the provider',
    advice:
      'fault says what was wrong. GET /api/providers/calls/{call_id} shows every attempt; start a new call later.',
  },
  budget_reached: {
    status: 409,
    title: 'The budget of the provider is used up',
    advice:
      'budget names it and resets_at says when it begins again. Raise it in the manifest of the provider, or wait.',
  },
  not_recorded: {
    status: 409,
    title: 'There is no recorded answer to this input',
    advice:
      'The provider is not called live here. Add a fixture for this input to its manifest, or set its mode to live.',
  },
  outcome_unknown: {
    status: 409,
    title: 'It is not known whether the provider received the request',
    advice:
      'The provider promises no safe repetition. Find out, then repeat the call or enter its answer: POST /api/providers/calls/{call_id}/repeat or /answer.',
  },
  provider_limit_reached: {
    status: 429,
    title: 'The provider may not be called again yet',
    advice:
      'Its rate, its number of requests at once or its circuit breaker is reached. Wait as long as Retry-After says.',
    retryable: true,
  },
} as const satisfies Record<string, ProblemType>
