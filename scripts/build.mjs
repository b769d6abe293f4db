/**
 * Builds what is not in the repository: the server bundle, the console, the script and the recipes of the API documentation
 * page and the types of the client.
 * A part whose inputs are unchanged is not built again: sizes and times of its files are compared first, their content only where
 * these differ. Every part is made under a temporary name and moved into place, so that two builds at once, or a build under a
 * running server, never show half a file.
 */
import { createHash, randomUUID } from 'node:crypto'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const dist = path.join(root, 'dist')
const require = createRequire(import.meta.url)

/**
 * `inputs` decide whether the part is stale, `make` fills a temporary folder whose files are moved into `folder`, the `entry`
 * last. With `ownsFolder` files of an earlier build are removed; files named `keptPrefix…` of earlier builds only after a day. The
 * lock file represents the packages a part uses.
 */
const table = {
  bundle: {
    inputs: ['src', 'tsconfig.json'],
    folder: 'dist',
    entry: 'probity.mjs',
    // A process that started before this build may still load them.
    keptPrefix: 'chunk-',
    make: makeBundle,
  },
  console: {
    inputs: ['console', 'client', 'tsconfig.json'],
    folder: 'dist/console',
    ownsFolder: true,
    entry: 'index.html',
    make: makeConsole,
  },
  docs: { inputs: ['docs/recipes'], folder: 'dist/docs', ownsFolder: true, entry: 'scalar.js', make: makeDocs },
  // Read by the type checker and by editors alone: neither the server nor the console needs it to run.
  'client-types': {
    inputs: ['src', 'scripts/client-types.mjs', 'scripts/bundled-import.mjs'],
    folder: 'client',
    entry: 'types.ts',
    make: makeClientTypes,
  },
}

/**
 * @param {{ onStep?: (step: { part: string, duration_ms: number }) => void, force?: boolean, parts?: string[] }} options
 * @returns {Promise<string[]>} the parts that were built
 */
export async function build({ onStep = () => {}, force = false, parts = Object.keys(table) } = {}) {
  const built = await Promise.all(
    parts.map(async (name) => {
      const started = performance.now()
      const part = table[name]
      const stamp = new Stamp(name)
      const inputs = listInputs([...part.inputs, 'package.json', 'package-lock.json', 'scripts/build.mjs'])
      const target = path.join(root, part.folder)
      const isBuilt = !force && fs.existsSync(path.join(target, part.entry))
      if (isBuilt && stamp.hasSameFiles(inputs)) return []
      const hash = hashInputs(inputs)
      if (isBuilt && stamp.hash === hash) {
        stamp.tryReplace(hash, inputs)
        return []
      }
      const temporary = path.join(dist, `.making-${name}-${randomUUID()}`)
      fs.mkdirSync(temporary, { recursive: true })
      removeOld('.making-', KEPT_BUILD_MS)
      try {
        await part.make(temporary)
        publish(temporary, target, part)
        stamp.replace(hash, inputs)
      } finally {
        fs.rmSync(temporary, { recursive: true, force: true })
      }
      onStep({ part: name, duration_ms: Math.round(performance.now() - started) })
      return [name]
    }),
  )
  return built.flat()
}

const threads = {
  'import-thread': 'src/registry/import/import-thread.ts',
  'type-worker': 'src/registry/types/type-worker.ts',
  'analysis-worker': 'src/decision/analysis/analysis-worker.ts',
  'contract-worker': 'src/contract/contract-worker.ts',
  sandbox: 'src/sandbox/sandbox.ts',
  'compile-process': 'src/kernel/typesetting/compile-process.ts',
}

/** A thread is started for every import: with its packages in one file it is ready in a tenth of the time. */
const whole = {
  packages: 'bundle',
  banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
}

/** Packages of hundreds of small modules: reading them one by one is most of what a command takes to start. */
const bundledPackages = ['typebox', 'jose']

function externalPackages() {
  const { dependencies } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'))
  return Object.keys(dependencies).filter((name) => !bundledPackages.includes(name))
}

async function makeBundle(folder) {
  const esbuild = require(findPackage('esbuild'))
  try {
    const shared = {
      absWorkingDir: root,
      outdir: dist,
      outExtension: { '.js': '.mjs' },
      write: false,
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node20',
      sourcemap: 'linked',
      logLevel: 'silent',
    }
    const built = await Promise.all([
      // One chunk for each command: most of them need a fraction of the program.
      esbuild.build({
        ...shared,
        entryPoints: { probity: 'src/app/main.ts' },
        external: externalPackages(),
        splitting: true,
        chunkNames: 'chunk-[hash]',
      }),
      esbuild.build({ ...shared, entryPoints: threads, ...whole }),
    ])
    const outputFiles = built.flatMap((each) => each.outputFiles)
    for (const file of outputFiles) fs.writeFileSync(path.join(folder, path.basename(file.path)), file.contents)
  } finally {
    // Otherwise its helper process stays for as long as a server runs.
    await esbuild.stop()
  }
}

/** Loaded here: a command that has nothing to build does without it. */
async function runNode(command) {
  const { execFile } = await import('node:child_process')
  await promisify(execFile)(process.execPath, command, { cwd: root })
}

/** In a process of its own: Vite sets NODE_ENV and keeps some 100 MB that a server started afterwards would carry. */
async function makeConsole(folder) {
  const vite = path.join(path.dirname(findPackage('vite/package.json')), 'bin/vite.js')
  const command = [vite, 'build', 'console', '--outDir', folder, '--emptyOutDir', '--logLevel', 'warn']
  try {
    await runNode(command)
  } catch (error) {
    throw new Error(`The console does not build:\n${error.stderr || error.message}`)
  }
  await compress(folder)
}

/** In a process of its own: the generator loads a second TypeScript. */
async function makeClientTypes(folder) {
  const command = ['scripts/client-types.mjs', path.join(folder, 'types.ts')]
  try {
    await runNode(command)
  } catch (error) {
    throw new Error(`The types of the client cannot be generated:\n${error.stderr || error.message}`)
  }
}

async function makeDocs(folder) {
  const scalar = path.dirname(findPackage('@scalar/fastify-api-reference'))
  fs.copyFileSync(path.join(scalar, 'js/standalone.js'), path.join(folder, 'scalar.js'))
  fs.cpSync(path.join(root, 'docs/recipes'), path.join(folder, 'recipes'), { recursive: true })
  await compress(folder)
}

/** The best there is, 11, would save another fifteenth of the console for four times the work, seconds of a first start. */
const BROTLI_QUALITY = 9

/** Puts beside every text `.br` and `.gz`, for src/app/assets.ts to choose from. One that would not be smaller is left out. */
async function compress(folder) {
  const { default: zlib } = await import('node:zlib')
  const [brotli, gzip] = [promisify(zlib.brotliCompress), promisify(zlib.gzip)]
  const texts = filesUnder(folder).filter((file) => /\.(html|js|css|svg)$/.test(file))
  await Promise.all(
    texts.map(async (text) => {
      const file = path.join(folder, text)
      const plain = fs.readFileSync(file)
      const params = {
        [zlib.constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
        [zlib.constants.BROTLI_PARAM_SIZE_HINT]: plain.length,
      }
      const [br, gz] = await Promise.all([brotli(plain, { params }), gzip(plain, { level: 9 })])
      for (const [extension, packed] of Object.entries({ br, gz })) {
        if (packed.length < plain.length) fs.writeFileSync(`${file}.${extension}`, packed)
      }
    }),
  )
}

function findPackage(name) {
  try {
    return require.resolve(name)
  } catch {
    throw new Error(`The package "${name.replace('/package.json', '')}" is not installed: run "npm ci" first.`)
  }
}

/** Moves the files one by one, what is referred to before what refers to it, then removes what the new build lacks. */
function publish(from, to, part) {
  const files = filesUnder(from)
  const inOrder = [...files.filter((file) => file !== part.entry), part.entry]
  for (const file of inOrder) {
    fs.mkdirSync(path.dirname(path.join(to, file)), { recursive: true })
    fs.renameSync(path.join(from, file), path.join(to, file))
  }
  if (part.keptPrefix) removeOld(part.keptPrefix, KEPT_CHUNK_MS, files)
  if (!part.ownsFolder) return
  for (const file of filesUnder(to)) if (!files.includes(file)) fs.rmSync(path.join(to, file), { force: true })
}

/** A command has loaded its chunks within a second of its start. */
const KEPT_CHUNK_MS = 24 * 3_600_000
/** A build takes seconds: what killed builds left behind is older. */
const KEPT_BUILD_MS = 3_600_000

/** Removes what is in dist under names that start with the prefix and was written longer ago. */
function removeOld(prefix, kept_ms, needed = []) {
  for (const name of fs.readdirSync(dist).filter((name) => name.startsWith(prefix) && !needed.includes(name))) {
    const changed_at = fs.statSync(path.join(dist, name), { throwIfNoEntry: false })?.mtimeMs ?? Date.now()
    if (Date.now() - changed_at > kept_ms) fs.rmSync(path.join(dist, name), { recursive: true, force: true })
  }
}

/** What a part was built from: the hash of its inputs, and the size and times of each file when it was computed. */
class Stamp {
  #file
  #stored

  constructor(name) {
    this.#file = path.join(dist, `.stamp-${name}`)
    this.#stored = readStamp(this.#file)
  }

  get hash() {
    return this.#stored.hash
  }

  hasSameFiles(inputs) {
    return this.#stored.files === describeFiles(inputs)
  }

  /**
   * A file that changed a moment ago may change again without a difference in size or time. Then only the hash is stored, and the
   * next check reads the content.
   */
  replace(hash, inputs) {
    const newest_ms = Math.max(...inputs.map(({ mtimeMs, ctimeMs }) => Math.max(mtimeMs, ctimeMs)))
    const files = Date.now() - newest_ms < UNSETTLED_MS ? null : describeFiles(inputs)
    const temporary = path.join(dist, `.making-stamp-${randomUUID()}`)
    fs.writeFileSync(temporary, JSON.stringify({ hash, files }))
    fs.renameSync(temporary, this.#file)
  }

  /** In an installation that cannot be written, the content is read each time. */
  tryReplace(hash, inputs) {
    try {
      this.replace(hash, inputs)
    } catch (error) {
      if (!['EACCES', 'EPERM', 'EROFS'].includes(error.code)) throw error
    }
  }
}

const UNSETTLED_MS = 2000

/** Without a readable stamp everything is stale. */
function readStamp(file) {
  try {
    const { hash, files } = JSON.parse(fs.readFileSync(file, 'utf8'))
    return { hash, files }
  } catch {
    return { hash: null, files: null }
  }
}

function listInputs(inputs) {
  const files = inputs.flatMap((input) => {
    const isFolder = fs.statSync(path.join(root, input)).isDirectory()
    return isFolder ? filesUnder(path.join(root, input), isSource).map((file) => path.join(input, file)) : [input]
  })
  return files
    .filter((file) => file !== GENERATED)
    .map((file) => {
      const { size, mtimeMs, ctimeMs } = fs.statSync(path.join(root, file))
      return { file, size, mtimeMs, ctimeMs }
    })
}

const GENERATED = path.join('client', 'types.ts')

/** The change time is set by the system alone: a tool that restores the modification time does not hide a change. */
const describeFiles = (inputs) =>
  inputs.map(({ file, size, mtimeMs, ctimeMs }) => `${file}:${size}:${mtimeMs}:${ctimeMs}`).join('\n')

function hashInputs(inputs) {
  const hash = createHash('sha256')
  for (const { file } of inputs) hash.update(`${file}\0`).update(fs.readFileSync(path.join(root, file)))
  return hash.digest('hex')
}

const isSource = (name) => !/(\.test\.tsx?|fixtures\.ts)$/.test(name) && name !== 'node_modules'

/** Relative paths, sorted. What `isWanted` refuses by its name is left out, a folder with all that is in it. */
function filesUnder(folder, isWanted = () => true) {
  return fs
    .readdirSync(folder, { withFileTypes: true })
    .filter((entry) => isWanted(entry.name))
    .flatMap((entry) => {
      if (!entry.isDirectory()) return entry.isFile() ? [entry.name] : []
      return filesUnder(path.join(folder, entry.name), isWanted).map((file) => path.join(entry.name, file))
    })
    .sort()
}

/** `node scripts/build.mjs [--force] [part …]` */
async function runFromCommandLine(argv) {
  const started = performance.now()
  const named = argv.filter((argument) => argument in table)
  const unknown = argv.filter((argument) => argument !== '--force' && !named.includes(argument))
  if (unknown.length > 0)
    throw new Error(`Unknown: ${unknown.join(', ')}. The parts are ${Object.keys(table).join(', ')}.`)
  const built = await build({
    force: argv.includes('--force'),
    ...(named.length > 0 && { parts: named }),
    onStep: ({ part, duration_ms }) => console.log(`built ${part} in ${duration_ms} ms`),
  })
  if (built.length === 0) console.log(`up to date (${Math.round(performance.now() - started)} ms)`)
}

if (process.argv[1] && fs.realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  await runFromCommandLine(process.argv.slice(2)).catch((error) => {
    console.error(error.message)
    process.exitCode = 1
  })
}
