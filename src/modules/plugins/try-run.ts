/** Runs a version once for its author: nothing is stored, and an invalid version answers 503 as everywhere. */
import type { Static } from 'typebox'
import type { Tx } from '#kernel/database/tx.ts'
import { fail } from '#kernel/problem.ts'
import { describeFault, findInputFaults, toInputErrors } from '#plugin/inputs.ts'
import { ENTRY_POINTS, getListUses } from '#plugin/manifest.ts'
import { findOutputFaults } from '#plugin/outputs.ts'
import type { EntryPoint } from '#sandbox/model.ts'
import { bindVersion } from './bind-plugin.ts'
import { runWithEntries } from './list-entries.ts'
import type { BindCapabilities, BoundPlugin, RunCapabilities } from './model.ts'
import { getPluginVersion } from './plugin-views.ts'
import { failPlugin } from './run-plugin.ts'
import type { RunReply, RunRequest } from './schema.ts'

type RunBody = Static<typeof RunRequest>

interface RunScope {
  readonly read: <T>(body: (tx: Tx) => Promise<T>) => Promise<T>
  readonly tenant_id: string
  readonly signal: AbortSignal
}

export async function runOnce(
  kernel: BindCapabilities & RunCapabilities,
  scope: RunScope,
  params: { readonly plugin_key: string; readonly version: string },
  body: RunBody,
): Promise<Static<typeof RunReply>> {
  const bound = await scope.read(async (tx) => bindVersion(kernel, tx, await getPluginVersion(tx, params)))
  const entry_point = getEntryPoint(bound, body)
  assertEntries(bound, body)
  assertInput(bound, entry_point, body)
  const result = await runWithEntries(kernel, scope, bound, {
    entry_point,
    args: toArguments(bound, entry_point, body),
    entries: body.entries ?? {},
  })
  if (!result.ok) return failPlugin(bound, result)
  const output: unknown = JSON.parse(result.output)
  const [fault] = findOutputFaults(bound.manifest, entry_point, output)
  if (fault) {
    const message = ['The output', fault.pointer, fault.message].filter((part) => part !== '').join(' ')
    return failPlugin(bound, { reason: 'output_invalid', message, fuel: result.fuel })
  }
  return {
    plugin_key: bound.plugin_key,
    version: bound.version,
    content_hash: bound.content_hash,
    sandbox_hash: bound.sandbox_hash,
    output,
    fuel: result.fuel,
    read: [...result.read],
  }
}

function getEntryPoint({ manifest: { kind } }: BoundPlugin, { entry_point }: RunBody): EntryPoint {
  const possible = ENTRY_POINTS[kind]
  const chosen = entry_point ?? (possible[0] as EntryPoint)
  return possible.includes(chosen)
    ? chosen
    : fail('conflict', `A ${kind} has the entry points ${possible.join(' and ')}, not ${chosen}.`)
}

/** A decision cannot look up undeclared lists, so a run with them would not show what a decision does. */
function assertEntries({ manifest }: BoundPlugin, { entries = {} }: RunBody): void {
  const declared = getListUses(manifest).map(({ list_key }) => list_key)
  const list_key = Object.keys(entries).find((each) => !declared.includes(each))
  if (list_key === undefined) return
  fail(
    'conflict',
    `The list ${list_key.slice(0, 100)} is not declared in permissions.lists: its entries cannot be read.`,
  )
}

/** What no decision, import or call would pass to it. */
function assertInput({ manifest }: BoundPlugin, entry_point: EntryPoint, { input }: RunBody): void {
  const faults = findInputFaults(manifest, entry_point, input)
  const [first] = faults
  if (!first) return
  fail('inputs_refused', {
    detail: `The input is not one that the plugin is called with: ${describeFault(first)}.`,
    errors: toInputErrors(faults),
  })
}

const toArguments = (
  { configuration }: BoundPlugin,
  entry_point: EntryPoint,
  { input, state = null }: RunBody,
): string[] =>
  (entry_point === 'adapter' ? [input, state, configuration] : [input, configuration]).map(
    (value) => JSON.stringify(value) ?? 'null',
  )
