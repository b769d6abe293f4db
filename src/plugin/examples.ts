/** Runs golden examples: alone, then several in one context forwards and backwards. What they may use together is bounded. */
import { isDeepStrictEqual } from 'node:util'
import type { EntryPoint, RunFault, SandboxItem, SandboxResult, SandboxTask, SuppliedEntries } from '#sandbox/model.ts'
import type { SandboxRunOptions } from '#sandbox/sandbox-runner.ts'
import { restrictEntries } from './inputs.ts'
import { getLimits, MAX_EXAMPLES_FUEL, type PluginManifest } from './manifest.ts'
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
  options: SandboxRunOptions & { readonly was_accepted?: boolean },
): Promise<ExamplesResult> {
  const limits = getLimits(manifest)
  const reasons: Reason[] = []
  let fuel_max = 0
  const refuses_own_import = !options.was_accepted
  const calls = listExampleCalls(manifest)
  for (const entry_point of new Set(calls.map((call) => call.entry_point))) {
    const own = calls.filter((call) => call.entry_point === entry_point)
    const task = { source, entry_point, limits, refuses_own_import }
    const items = own.map(({ item }) => item)
    const alone = await runAlone(runner, { ...task, items }, options)
    fuel_max = Math.max(fuel_max, ...alone.map(({ fuel }) => fuel))
    reasons.push(...alone.flatMap((result, index) => judgeExample(manifest, own[index] as ExampleCall, result)))
    const beyond = options.was_accepted ? null : findFuelReason(own, alone)
    if (beyond) reasons.push(beyond)
    if (alone.length < items.length || beyond || alone.some(({ ok }) => !ok)) continue
    const kept = own[await findKeptState(runner, { ...task, items }, { alone, options })]
    if (!kept) continue
    reasons.push({
      code: 'keeps_state',
      pointer: kept.pointer,
      message: `The example "${kept.name}" has another output after other examples: the module keeps state between calls.`,
    })
  }
  return { reasons, fuel_max }
}

/** Examples that share a context have one turn of the thread, in which other callers wait. */
const MAX_GROUP_FUEL = 1000

/** Groups of examples in their order, each with at least two where there are as many. */
function groupExamples(alone: readonly SandboxResult[]): number[][] {
  const groups: number[][] = [[]]
  let used = 0
  for (const [index, { fuel }] of alone.entries()) {
    const isLast = index === alone.length - 1
    if ((groups.at(-1)?.length ?? 0) >= 2 && used + fuel > MAX_GROUP_FUEL && !isLast) {
      groups.push([])
      used = 0
    }
    groups.at(-1)?.push(index)
    used += fuel
  }
  return groups
}

/** The first example that has another output when others ran before it in its context; -1: none. */
async function findKeptState(
  runner: ExampleRunner,
  task: SandboxTask,
  { alone, options }: { readonly alone: readonly SandboxResult[]; readonly options: SandboxRunOptions },
): Promise<number> {
  for (const group of groupExamples(alone)) {
    const shared_fuel = sumFuel(group.map((index) => alone[index] as SandboxResult))
    const differing: number[] = []
    for (const order of [group, group.toReversed()]) {
      const items = order.map((index) => task.items[index] as SandboxItem)
      const results = await runner.run({ ...task, items, is_shared: true, shared_fuel }, options)
      differing.push(...order.filter((index, place) => getOutput(results[place]) !== getOutput(alone[index])))
    }
    if (differing.length > 0) return Math.min(...differing)
  }
  return -1
}

const sumFuel = (results: readonly SandboxResult[]): number => results.reduce((sum, { fuel }) => sum + fuel, 0)

/** Results of the first examples: it ends with a native loop, and where all together have used too much. */
async function runAlone(
  runner: ExampleRunner,
  task: SandboxTask,
  options: SandboxRunOptions & { readonly was_accepted?: boolean },
): Promise<SandboxResult[]> {
  const { items, limits } = task
  const results: SandboxResult[] = []
  const bound = options.was_accepted ? items.length * (limits.fuel + 1) : MAX_EXAMPLES_FUEL
  while (results.length < items.length) {
    const left = bound - sumFuel(results)
    if (left < 0) return results
    const count = Math.max(1, Math.floor(left / limits.fuel))
    const part = items.slice(results.length, results.length + count)
    results.push(...(await runner.run({ ...task, items: part }, { ...options, ends_with_native_loop: true })))
    const last = results.at(-1)
    if (last && !last.ok && last.reason === 'native_loop') return results
  }
  return results
}

/** The example with which all together have used too much. */
function findFuelReason(calls: readonly ExampleCall[], results: readonly SandboxResult[]): Reason | null {
  let used = 0
  const index = results.findIndex(({ fuel }) => {
    used += fuel
    return used > MAX_EXAMPLES_FUEL
  })
  const call = calls[index]
  if (!call) return null
  const message = `With the example "${call.name}" the examples of ${call.entry_point} have used ${used} units of fuel; all together may use ${MAX_EXAMPLES_FUEL}.`
  return { code: 'fuel', pointer: call.pointer, message }
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
