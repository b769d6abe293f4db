/** Golden examples as they are run: which entry points, with what, and what is expected. Pure. */
import type { PluginReason, PluginVersion } from '#console/ui/plugin/plugin-texts.ts'

export type EntryPoint = 'factor' | 'adapter' | 'request' | 'parse'
type Entries = Record<string, Record<string, Record<string, unknown> | null>>

export interface RunRequest {
  readonly entry_point: EntryPoint
  readonly input: unknown
  readonly state?: unknown
  readonly entries?: Entries
}

export interface ExampleRun {
  readonly request: RunRequest
  readonly expected: unknown
}

export interface ReadExample {
  readonly name: string
  /** What is shown of it, in order. */
  readonly parts: readonly (readonly [name: string, value: unknown])[]
  readonly runs: readonly ExampleRun[]
  /** It was validated with a configuration of its own, which a run does not use. */
  readonly hasConfig: boolean
}

const toObject = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}

const partNames = {
  input: 'Input',
  lists: 'Entries of lists',
  config: 'Configuration',
  request: 'Expected request',
  response: 'Response',
  output: 'Expected output',
} as const

export const getEntryPoints = (kind: PluginVersion['kind']): readonly EntryPoint[] =>
  kind === 'provider' ? ['request', 'parse'] : kind === null ? [] : [kind]

function toRuns(kind: PluginVersion['kind'], example: Readonly<Record<string, unknown>>): readonly ExampleRun[] {
  const { input, lists, output, request, response } = example
  if (kind === 'factor') {
    const entries = toObject(lists) as Entries
    const given = Object.keys(entries).length > 0 ? { entries } : {}
    return [{ request: { entry_point: 'factor', input, ...given }, expected: output }]
  }
  if (kind === 'adapter') {
    const { chunk, state } = toObject(input)
    const after = state === undefined ? {} : { state }
    return [{ request: { entry_point: 'adapter', input: chunk, ...after }, expected: output }]
  }
  if (kind !== 'provider') return []
  return [
    { request: { entry_point: 'request', input }, expected: request },
    { request: { entry_point: 'parse', input: response }, expected: output },
  ]
}

/** An example of an invalid version may have any shape. */
export function readExample(kind: PluginVersion['kind'], example: unknown, index: number): ReadExample {
  const members = toObject(example)
  const { name } = members
  const shown = Object.entries(partNames).flatMap(([member, title]) =>
    member in members ? [[title, members[member]] as const] : [],
  )
  return {
    name: typeof name === 'string' && name !== '' ? name : `Example ${index + 1}`,
    parts: shown,
    runs: toRuns(kind, members),
    hasConfig: 'config' in members,
  }
}

/** The reasons about one example, by its place in the manifest. */
export const findExampleReasons = (reasons: readonly PluginReason[], index: number): readonly PluginReason[] =>
  reasons.filter(({ pointer = '' }) => pointer === `/examples/${index}` || pointer.startsWith(`/examples/${index}/`))
