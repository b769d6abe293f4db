/** What plugins can extend, for authors and for the console. */

import { MAX_FUEL, MAX_MEMORY_MIB, MIN_EXAMPLES, PLUGIN_API } from '#plugin/manifest.ts'
import { MAX_PACKAGE_BYTES } from '#plugin/package.ts'
import { SANDBOX_HASH } from '#sandbox/builds.ts'

const items = [
  {
    kind: 'factor',
    title: 'Factor of a risk matrix',
    description:
      'Computes the score of a factor from inputs of the matrix. It sees nothing but its arguments, and may look up entries of lists that are granted to it.',
    entry_points: [
      {
        name: 'factor',
        arguments: [
          'the inputs that the matrix names, as an object',
          'lists: get(list_key, key) and getMany(list_key, keys) look up entries of granted lists',
          'the configuration',
        ],
        returns: '{ score_bps, reason_code, values }, with the score inside the range that the manifest declares',
      },
    ],
    permissions: ['lists'],
  },
  {
    kind: 'adapter',
    title: 'Adapter of an import',
    description:
      'Turns the rows of a file, read by the service from CSV, JSON, XML or XLSX, into entries of a list, in chunks of at most 1,000 rows.',
    entry_points: [
      {
        name: 'adapter',
        arguments: ['the rows of a chunk', 'the state that the chunk before returned', 'the configuration'],
        returns: '{ entries, rejects, state }: each entry and each reject names its row in the chunk',
      },
    ],
    permissions: [],
  },
  {
    kind: 'provider',
    title: 'Provider of facts',
    description:
      'Writes the request to a provider and reads its answer. The service sends the request itself: the code never waits, and no credential enters it.',
    entry_points: [
      {
        name: 'request',
        arguments: ['the input of the call', 'the configuration'],
        returns: 'the request: method, url, query, headers, body',
      },
      {
        name: 'parse',
        arguments: ['the response: status, headers, body', 'the configuration'],
        returns: 'the payload, which the source contract judges',
      },
    ],
    permissions: ['hosts'],
  },
] as const

export const listExtensionPoints = () => ({
  items: items.map((item) => ({
    ...item,
    entry_points: item.entry_points.map((entry) => ({ ...entry, arguments: [...entry.arguments] })),
    permissions: [...item.permissions],
  })),
  api: PLUGIN_API,
  sandbox_hash: SANDBOX_HASH,
  limits: {
    package_bytes: MAX_PACKAGE_BYTES,
    fuel: MAX_FUEL,
    memory_mib: MAX_MEMORY_MIB,
    examples: MIN_EXAMPLES,
  },
})
