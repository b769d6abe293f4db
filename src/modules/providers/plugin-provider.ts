/**
 * The two functions of a provider plugin, around what the service sends: `request` makes the request, `parse` reads the response. The
 * plugin sees neither credentials nor the network, and what it returns is checked before it is used.
 */
import type { Tx } from '#kernel/database/tx.ts'
import { Problem } from '#kernel/problem.ts'
import { parseStrictJson } from '#kernel/strict-json.ts'
import {
  bindPlugin,
  failInvalid,
  failPlugin,
  type pluginModel,
  recordFailure,
  recordInvocations,
  runPlugin,
} from '#modules/plugins/index.ts'
import { findInputFaults } from '#plugin/inputs.ts'
import { getHosts } from '#plugin/manifest.ts'
import { findOutputFaults } from '#plugin/outputs.ts'
import type { ProviderResponse } from '#provider/classify-response.ts'
import { getMediaType } from '#provider/classify-response.ts'
import { type PluginRequest, PluginRequestRefused, toRenderedRequest } from '#provider/plugin-request.ts'
import type { RenderedRequest } from '#provider/render-request.ts'
import type { EntryPoint } from '#sandbox/model.ts'
import type { PluginOperation } from './capability.ts'
import type { CallRun } from './load-call.ts'

type BoundPlugin = pluginModel.BoundPlugin

/** A plugin bound for one attempt, with what it is run for. */
export interface PluginRun {
  readonly run: CallRun
  readonly bound: BoundPlugin
  readonly operation: PluginOperation
  readonly call_id: string
}

/** The version in force now; 503 `plugin_invalid` where it may not run. */
export async function bindProviderPlugin(
  run: CallRun,
  operation: PluginOperation,
  call_id: string,
): Promise<PluginRun> {
  const wanted = { plugin_key: operation.manifest.plugin_key, kind: 'provider' as const }
  const bound = await run.kernel.transactions.read(run.scope, (tx) => bindPlugin(run.kernel, tx, wanted))
  return { run, bound, operation, call_id }
}

/** 503 `plugin_failed` where it throws, or makes a request that may not be sent. */
export async function makePluginRequest(
  plugin: PluginRun,
  input: Readonly<Record<string, unknown>>,
): Promise<RenderedRequest> {
  const { manifest } = plugin.operation
  assertInput(plugin.bound, input)
  const granted = getHosts(plugin.bound.manifest)
  const hosts = manifest.hosts.filter((host) => granted.includes(host))
  const { output, fuel } = await runEntryPoint(plugin, 'request', input)
  try {
    return toRenderedRequest({ ...manifest, hosts }, output as PluginRequest)
  } catch (error) {
    if (!(error instanceof PluginRequestRefused)) throw error
    return failOutput(plugin, { message: error.message, fuel })
  }
}

/** Another version may have come into force since the call was made. */
function assertInput({ plugin_key, version, manifest }: BoundPlugin, input: unknown): void {
  const [fault] = findInputFaults(manifest, 'request', input)
  if (!fault) return
  const message = `It does not take the input of the call: ${fault.pointer || 'it'} ${fault.message}.`
  failInvalid(plugin_key, version, [{ code: 'input_refused', message }])
}

/** The payload that the plugin reads from a response, and which version of it did. */
export async function parsePluginResponse(
  plugin: PluginRun,
  response: ProviderResponse,
): Promise<{ readonly bytes: Buffer; readonly made_by: Readonly<Record<string, unknown>> }> {
  const { bound, run, call_id } = plugin
  const { output, result } = await runEntryPoint(plugin, 'parse', toParseInput(response))
  await run.kernel.transactions.write(run.scope, (tx: Tx) =>
    recordInvocations(tx, bound, [result], { kind: 'provider_call', id: call_id }),
  )
  const { plugin_key, version, content_hash, configuration_hash, sandbox_hash } = bound
  const made_by = { kind: 'plugin', plugin_key, version, content_hash, configuration_hash, sandbox_hash }
  return { bytes: Buffer.from(JSON.stringify(output)), made_by }
}

/**
 * Whether JSON would reach the plugin as something else than what was sent: of two members with one name `JSON.parse` takes the last,
 * and it rounds large numbers. What is no JSON at all reaches the plugin as a text.
 */
export function isAmbiguousJson({
  media_type,
  bytes,
}: {
  readonly media_type: string
  readonly bytes: Buffer
}): boolean {
  if (!isJson(media_type) || typeof parseJson(bytes.toString('utf8')) === 'string') return false
  try {
    parseStrictJson(bytes)
    return false
  } catch (error) {
    if (error instanceof Problem) return true
    throw error
  }
}

/** Parsed JSON, or the text of another media type. */
function toParseInput({ status, headers, body }: ProviderResponse) {
  const media_type = getMediaType(headers)
  const text = body.toString('utf8')
  return { status, headers: { 'content-type': media_type }, body: isJson(media_type) ? parseJson(text) : text }
}

const isJson = (media_type: string): boolean => media_type === 'application/json' || media_type.endsWith('+json')

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

async function runEntryPoint(
  { run, bound, operation, call_id }: PluginRun,
  entry_point: EntryPoint,
  argument: unknown,
) {
  const { kernel, scope } = run
  const item = { args: [JSON.stringify(argument), JSON.stringify(bound.configuration)] }
  const [result] = await runPlugin(kernel, bound, { entry_point, items: [item] }, { caller: scope.tenant_id })
  const plugin = { run, bound, operation, call_id }
  if (!result?.ok) {
    const message = result && 'message' in result ? result.message : 'It asks for entries of lists.'
    if (result) await record(plugin, result)
    return failPlugin(bound, { reason: result?.reason ?? 'threw', message, fuel: result?.fuel ?? 0 })
  }
  const output: unknown = JSON.parse(result.output)
  const [fault] = findOutputFaults(bound.manifest, entry_point, output)
  if (fault) return failOutput(plugin, { message: `${fault.pointer} ${fault.message}`, fuel: result.fuel })
  return { output, fuel: result.fuel, result }
}

const record = ({ run, bound, call_id }: PluginRun, result: Parameters<typeof recordInvocations>[2][number]) =>
  recordFailure(run.kernel, run.scope, bound, {
    results: [result],
    caused_by: { kind: 'provider_call', id: call_id },
  })

async function failOutput(
  plugin: PluginRun,
  { message, fuel }: { readonly message: string; readonly fuel: number },
): Promise<never> {
  await record(plugin, { ok: false, reason: 'output_invalid', message, fuel })
  return failPlugin(plugin.bound, { reason: 'output_invalid', message, fuel })
}
