/**
 * `npm run sbom`: what is shipped, as a CycloneDX document on standard output, read from the lock file alone. npm's own
 * `--omit dev` also leaves out packages that production and development share, so that is done here, by npm's own marks.
 */
import { execFileSync } from 'node:child_process'
import path from 'node:path'

const root = path.resolve(import.meta.dirname, '..')
const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
const text = execFileSync(npm, ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'], {
  cwd: root,
  stdio: ['ignore', 'pipe', 'inherit'],
  maxBuffer: 64 * 1024 * 1024,
  shell: process.platform === 'win32',
})
const document = JSON.parse(text)
const isDevelopment = ({ properties = [] }) =>
  properties.some(({ name, value }) => name === 'cdx:npm:package:development' && value === 'true')

const components = document.components.filter((component) => !isDevelopment(component))
const kept = new Set([document.metadata.component, ...components].map((component) => component['bom-ref']))
const dependencies = document.dependencies
  .filter(({ ref }) => kept.has(ref))
  .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((name) => kept.has(name)) }))
process.stdout.write(`${JSON.stringify({ ...document, components, dependencies }, null, 2)}\n`)
