/** `plugin init`, `check` and `pack`: an author's tools, with the validation that an upload gets, without a server. */
import fs from 'node:fs'
import path from 'node:path'
import { ZipFile } from 'yazl'
import { slugPattern } from '#kernel/schema.ts'
import { getLimits, PLUGIN_KINDS } from '#plugin/manifest.ts'
import {
  hashContent,
  MANIFEST_FILE,
  MAX_PACKAGE_BYTES,
  type PluginPackage,
  readPackage,
  SIGNATURE_FILE,
} from '#plugin/package.ts'
import type { Difference, Reason } from '#plugin/reasons.ts'
import { signPackage } from '#plugin/signature.ts'
import { OFFLINE_CONTEXT, validatePlugin } from '#plugin/validate-plugin.ts'
import { SANDBOX_HASH } from '#sandbox/builds.ts'
import type { PluginKind } from '#sandbox/model.ts'
import { SandboxRunner } from '#sandbox/sandbox-runner.ts'
import { type Command, type Host, type Terminal, UsageError } from './command.ts'
import { createTemplate } from './plugin-templates.ts'

export const pluginInit: Command = {
  about: `
Writes plugin.json and plugin.js into a new folder: a plugin that is valid as it is, with three golden examples to change.

Example:
  npx probity plugin init my-signals --kind factor`,
  options: {
    kind: { type: 'string', value: 'KIND', about: `one of ${PLUGIN_KINDS.join(', ')}` },
    key: { type: 'string', value: 'KEY', about: 'its plugin_key; by default the name of the folder' },
  },
  positionals: ['FOLDER'],
  run: async ({ args, terminal }) => {
    const [folder] = args.positionals as [string]
    const kind = args.required('kind') as PluginKind
    if (!PLUGIN_KINDS.includes(kind)) throw new UsageError(`--kind must be one of ${PLUGIN_KINDS.join(', ')}.`)
    const plugin_key = args.text('key') ?? path.basename(path.resolve(folder))
    if (!new RegExp(slugPattern).test(plugin_key)) {
      throw new UsageError(
        'The key must be 1 to 100 lower-case letters, digits, hyphens and underscores: give it with --key.',
      )
    }
    if (fs.existsSync(folder) && fs.readdirSync(folder).length > 0)
      throw new Error(`${folder} exists and is not empty.`)
    const { manifest, source } = createTemplate(kind, plugin_key)
    fs.mkdirSync(folder, { recursive: true })
    fs.writeFileSync(path.join(folder, MANIFEST_FILE), `${JSON.stringify(manifest, null, 2)}\n`)
    fs.writeFileSync(path.join(folder, 'plugin.js'), source)
    terminal.out(`Wrote ${path.join(folder, MANIFEST_FILE)} and ${path.join(folder, 'plugin.js')}.`)
    terminal.note(`Check it with: npx probity plugin check ${folder}`)
    return 0
  },
}

export const pluginCheck: Command = {
  about: `
PATH is a folder with plugin.json, or a package. Reads it, loads the module in the sandbox and runs the golden examples, as an
upload does. What depends on a tenant is not checked: lists, grants, contracts and publishers. Exit code 0 when it is valid,
1 when not.

Example:
  npx probity plugin check my-signals`,
  options: { json: { type: 'boolean', about: 'print the result as JSON' } },
  positionals: ['PATH'],
  run: async ({ args, terminal, host }) => {
    const [given] = args.positionals as [string]
    const checked = await checkPackage(await readBytes(given), host)
    if (args.flag('json')) terminal.out(JSON.stringify(toReport(checked), null, 2))
    else printCheck(terminal, checked)
    return checked.reasons.length === 0 ? 0 : 1
  },
}

export const pluginPack: Command = {
  about: `
Writes the package of a valid plugin, as it is uploaded or put into the operator's folder. With --sign and --publisher it is
signed with an Ed25519 private key. Exit code 1 when the plugin is not valid; then nothing is written.

Example:
  npx probity plugin pack my-signals --out my-signals.zip`,
  options: {
    out: { type: 'string', value: 'FILE', about: 'the package to write' },
    sign: { type: 'string', value: 'KEY_FILE', about: 'private key of the publisher, in PEM' },
    publisher: { type: 'string', value: 'NAME', about: 'name of the publisher, as operators list it' },
  },
  positionals: ['FOLDER'],
  run: async ({ args, terminal, host }) => {
    const [folder] = args.positionals as [string]
    const out = args.required('out')
    const [key_file, publisher] = [args.text('sign'), args.text('publisher')]
    if ((key_file === undefined) !== (publisher === undefined)) {
      throw new UsageError('--sign and --publisher are given together.')
    }
    const checked = await checkPackage(await readBytes(folder), host)
    if (!checked.plugin || checked.reasons.length > 0) {
      printCheck(terminal, checked)
      return 1
    }
    const { manifest, source } = checked.plugin
    const signature = key_file && publisher ? signPackage(checked.plugin, publisher, readText(key_file)) : null
    const files = { [MANIFEST_FILE]: `${JSON.stringify(manifest, null, 2)}\n`, [manifest.entry]: source }
    const signed = signature === null ? {} : { [SIGNATURE_FILE]: `${JSON.stringify(signature)}\n` }
    fs.writeFileSync(out, await zip({ ...files, ...signed }))
    terminal.out(`Wrote ${out}: ${describePlugin(checked.plugin)}.`)
    return 0
  },
}

interface Checked {
  /** Null when the package cannot be read. */
  readonly plugin: PluginPackage | null
  readonly reasons: readonly Reason[]
  readonly fuel_max: number | null
}

async function checkPackage(bytes: Buffer, host: Host): Promise<Checked> {
  const read = await readPackage(bytes)
  if ('reasons' in read) return { plugin: null, reasons: read.reasons, fuel_max: null }
  const runner = new SandboxRunner({ script: path.join(host.scripts_dir, 'sandbox.mjs') })
  try {
    const { reasons, fuel_max } = await validatePlugin(runner, read, OFFLINE_CONTEXT)
    return { plugin: read, reasons, fuel_max }
  } finally {
    await runner.close()
  }
}

/** A folder is packed first, so that it passes the same checks as an upload. */
async function readBytes(given: string): Promise<Buffer> {
  const found = fs.statSync(given, { throwIfNoEntry: false })
  if (!found) throw new Error(`${given} does not exist.`)
  if (!found.isDirectory()) {
    if (found.size > MAX_PACKAGE_BYTES) return Buffer.alloc(MAX_PACKAGE_BYTES + 1)
    return fs.readFileSync(given)
  }
  const names = fs
    .readdirSync(given, { withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(js|mjs|json|md)$/.test(entry.name))
  if (!names.some(({ name }) => name === MANIFEST_FILE)) throw new Error(`${given} has no ${MANIFEST_FILE}.`)
  return zip(Object.fromEntries(names.map(({ name }) => [name, fs.readFileSync(path.join(given, name))])))
}

function readText(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8')
  } catch (error) {
    throw new Error(`${file} cannot be read: ${(error as NodeJS.ErrnoException).code}.`, { cause: error })
  }
}

/** The same content gives the same bytes. */
async function zip(files: Readonly<Record<string, string | Buffer>>): Promise<Buffer> {
  const archive = new ZipFile()
  for (const [name, content] of Object.entries(files)) {
    archive.addBuffer(Buffer.from(content as string), name, { mtime: new Date(0), mode: 0o100644 })
  }
  archive.end()
  const chunks: Buffer[] = []
  for await (const chunk of archive.outputStream) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

const describePlugin = ({ manifest }: PluginPackage): string =>
  `${manifest.kind} ${manifest.plugin_key} ${manifest.version}`

const toReport = ({ plugin, reasons, fuel_max }: Checked) => ({
  valid: reasons.length === 0,
  plugin_key: plugin?.manifest.plugin_key ?? null,
  kind: plugin?.manifest.kind ?? null,
  version: plugin?.manifest.version ?? null,
  content_hash: plugin ? hashContent(plugin) : null,
  sandbox_hash: SANDBOX_HASH,
  fuel_max,
  reasons,
})

function printCheck(terminal: Terminal, { plugin, reasons, fuel_max }: Checked): void {
  if (plugin && reasons.length === 0) {
    terminal.out(`Valid: ${describePlugin(plugin)}.`)
    terminal.out(`  content hash ${hashContent(plugin)}`)
    terminal.out(
      `  fuel         ${fuel_max} of ${getLimits(plugin.manifest).fuel} at most in ${plugin.manifest.examples.length} examples`,
    )
    return
  }
  const name = plugin ? `${describePlugin(plugin)}: ` : ''
  terminal.out(`NOT VALID: ${name}${reasons.length === 1 ? '1 reason' : `${reasons.length} reasons`}.`)
  for (const reason of reasons) {
    terminal.out(`  ${reason.code}${describePlace(reason, plugin)}: ${reason.message}`)
    for (const difference of reason.differences ?? []) terminal.out(`    ${describeDifference(difference)}`)
  }
}

function describePlace({ pointer, line }: Reason, plugin: PluginPackage | null): string {
  const places = [
    ...(pointer ? [`${MANIFEST_FILE} ${pointer}`] : []),
    ...(line === undefined ? [] : [`${plugin?.manifest.entry ?? 'the module'} line ${line}`]),
  ]
  return places.length === 0 ? '' : ` at ${places.join(', ')}`
}

function describeDifference(difference: Difference): string {
  const show = (name: 'expected' | 'actual'): string =>
    name in difference ? JSON.stringify(difference[name]).slice(0, 200) : 'nothing'
  return `${difference.pointer || 'the result'}: expected ${show('expected')}, got ${show('actual')}`
}
