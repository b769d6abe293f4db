/** Runs golden examples: alone, then all in one context forwards and backwards. */
import { isDeepStrictEqual } from 'node:util'
import type { EntryPoint, RunFault, SandboxItem, SandboxResult, SandboxTask, SuppliedEntries } from '#sandbox/model.ts'
import type { SandboxRunOptions } from '#sandbox/sandbox-runner.ts'
import { restrictEntries } from './inputs.ts'
import { getLimits, type PluginManifest } from './manifest.ts'
import { findOutputFaults } from './outputs.ts'
import type { PluginPackage } from './package.ts'
import { findDifferences, type Reason, type ReasonCode } from './reasons.ts'
import { fillDefaults } from './value-schema.ts'

/** The part of the runner that validation needs. */
export interface ExampleRunner {
  run(task: SandboxTask, options?: SandboxRunOptions): Promise<readonly SandboxResult[]>
}

/** One call that an example describes. */
export interface ExampleCall {
  readonly name: string
  /** JSON pointer of the example. */
  readonly pointer: string
  /** Member that holds the expected output. */
  readonly member: 'output' | 'request'
  readonly entry_point: EntryPoint
  readonly item: SandboxItem
  readonly expected: unknown
}

export function listExampleCalls(manifest: PluginManifest): ExampleCall[] {
  return (manifest.examples ?? []).flatMap((example, index): ExampleCall[] => {
    const { name, input, output } = example
    const config = fillDefaults(manifest.config_schema ?? {}, example.config ?? {})
    const pointer = `/examples/${index}`
    const create = (
      entry_point: EntryPoint,
      args: readonly unknown[],
      expected: unknown,
      lists: SuppliedEntries = {},
    ): ExampleCall => ({
      ...{ name, pointer, entry_point, expected, member: entry_point === 'request' ? 'request' : 'output' },
      item: { args: args.map((value) => JSON.stringify(value ?? null)), entries: restrictEntries(manifest, lists) },
    })
    if (manifest.kind === 'factor') {
      const { lists = {} } = example as (typeof manifest.examples)[number]
      return [create('factor', [input, config], output, lists)]
    }
    if (manifest.kind === 'adapter') {
      const { chunk, state } = (example as (typeof manifest.examples)[number]).input
      return [create('adapter', [chunk, state, config], output)]
    }
    const { request, response } = example as (typeof manifest.examples)[number]
    return [create('request', [input, config], request), create('parse', [response, config], output)]
  })
}

export interface ExamplesResult {
  readonly reasons: readonly Reason[]
  readonly fuel_max: number
}

export async function runExamples(
  runner: ExampleRunner,
  { manifest, source }: PluginPackage,
  options: SandboxRunOptions,
): Promise<ExamplesResult> {
  const limits = getLimits(manifest)
  const reasons: Reason[] = []
  let fuel_max = 0
  const calls = listExampleCalls(manifest)
  for (const entry_point of new Set(calls.map((call) => call.entry_point))) {
    const own = calls.filter((call) => call.entry_point === entry_point)
    const runAll = (items: readonly SandboxItem[], is_shared: boolean) =>
      runner.run({ source, entry_point, items, limits, is_shared }, options)
    const items = own.map(({ item }) => item)
    const alone = await runAll(items, false)
    fuel_max = Math.max(fuel_max, ...alone.map(({ fuel }) => fuel))
    const found = own.flatMap((call, index) => judgeExample(manifest, call, alone[index] as SandboxResult))
    reasons.push(...found)
    if (alone.some(({ ok }) => !ok)) continue
    const forwards = await runAll(items, true)
    const backwards = [...(await runAll([...items].reverse(), true))].reverse()
    const kept = own.findIndex((_call, index) => {
      const [first, ...others] = [alone, forwards, backwards].map((results) => getOutput(results[index]))
      return others.some((other) => other !== first)
    })
    if (kept < 0) continue
    const name = own[kept]?.name ?? ''
    reasons.push({
      code: 'keeps_state',
      pointer: own[kept]?.pointer ?? '',
      message: `The example "${name}" has another output after other examples: the module keeps state between calls.`,
    })
  }
  return { reasons, fuel_max }
}

const getOutput = (result: SandboxResult | undefined): string | undefined => (result?.ok ? result.output : undefined)

const faultCodes: Readonly<Record<RunFault, ReasonCode>> = {
  syntax: 'syntax',
  imports: 'imports',
  export_missing: 'export_missing',
  load_failed: 'load_failed',
  threw: 'example_failed',
  fuel: 'fuel',
  memory: 'memory',
  native_loop: 'native_loop',
  not_available: 'not_available',
  output_not_json: 'output_not_json',
  output_too_large: 'output_invalid',
  list_undeclared: 'permission_missing',
}

/** The reason for a fault in the sandbox. */
export function toReason(fault: Extract<SandboxResult, { reason: RunFault }>, place: Partial<Reason> = {}): Reason {
  const { reason, message, line } = fault
  return {
    ...place,
    code: faultCodes[reason],
    message: `${place.message ?? ''}${message}.`,
    ...(line !== null && { line }),
  }
}

function judgeExample(manifest: PluginManifest, call: ExampleCall, result: SandboxResult): Reason[] {
  const { name, pointer, member, entry_point, expected } = call
  const place = { pointer, message: `The example "${name}": ` }
  if (!result.ok) {
    if (result.reason !== 'needs_entries') return [toReason(result, place)]
    const [first] = result.needed
    const message = `${place.message}it looks up "${first?.key}" in ${first?.list_key}, which its member lists does not have. Add the entry, or null.`
    return [{ code: 'example_failed', pointer, message }]
  }
  const actual: unknown = JSON.parse(result.output)
  const faults = findOutputFaults(manifest, entry_point, actual)
  if (faults.length > 0) {
    const [{ pointer: at, message }] = faults as [(typeof faults)[number]]
    const where = at === '' ? `The result of ${entry_point}` : `The member ${at} of the result of ${entry_point}`
    return [{ code: 'output_invalid', pointer, message: `${place.message}${where} ${message}.` }]
  }
  if (isDeepStrictEqual(expected, actual)) return []
  const differences = findDifferences(expected, actual)
  if (differences.length === 0) return []
  const where = differences[0]?.pointer === '' ? 'the result' : `the member ${differences[0]?.pointer}`
  const message = `${place.message}${where} of ${entry_point} differs from the expected ${member}.`
  return [{ code: 'example_mismatch', pointer: `${pointer}/${member}`, message, differences }]
}
