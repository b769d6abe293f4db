/** The part of the catalogue of errors that plugins have. */
import type { ProblemType } from './problem-type.ts'

export const pluginProblems = {
  version_conflict: {
    status: 409,
    title: 'This version of the plugin exists with other content',
    advice: 'A version never changes. Raise the version in the manifest and upload the plugin again.',
  },
  plugin_invalid: {
    status: 503,
    title: 'A plugin failed validation',
    advice:
      'Nothing was decided without it, and no other version was used. GET /api/plugins/{plugin_key} names every reason: correct it and put a corrected version in force, or grant, configure or enable the plugin.',
  },
  plugin_failed: {
    status: 503,
    title: 'A plugin failed while it ran',
    advice:
      'Nothing was decided without it. GET /api/plugins/{plugin_key}/invocations shows the failure with its stack; correct the plugin, or the input that it cannot handle.',
  },
} as const satisfies Record<string, ProblemType>
