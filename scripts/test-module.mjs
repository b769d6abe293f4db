/**
 * `npm run test:module -- <name>`: what is worth running while one module changes. Types of the project, the module's own
 * tests, the architecture rules, and of the generated matrices only the operations of this module. `npm test` runs everything.
 */
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import esbuild from 'esbuild'
import { createVitest } from 'vitest/node'
import { build } from './build.mjs'

const root = path.resolve(import.meta.dirname, '..')
const matrices = ['test/isolation/endpoints.test.ts', 'test/faults/database-faults.test.ts']

/** Incremental: the second run checks only what changed since the first. The client's types are generated, not committed. */
async function checkTypes() {
  await build({ parts: ['client-types'] })
  const tsc = path.join(root, 'node_modules/typescript/bin/tsc')
  const options = ['-p', '.', '--incremental', '--tsBuildInfoFile', '.build/test-module.tsbuildinfo']
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [tsc, ...options], { cwd: root, stdio: 'inherit' })
    child.once('error', () => resolve(false))
    child.once('exit', (code) => resolve(code === 0))
  })
}

/** From the module itself: a list of its own would be one more to keep. */
async function readOperationIds(name) {
  const outfile = path.join(root, '.build', `test-module-${process.pid}.mjs`)
  const entry = path.join(root, 'src/modules', name, 'index.ts')
  try {
    const options = { bundle: true, platform: 'node', format: 'esm', packages: 'external', logLevel: 'warning' }
    await esbuild.build({ ...options, absWorkingDir: root, entryPoints: [entry], outfile })
    const exported = Object.values(await import(pathToFileURL(outfile).href))
    const module = exported.find((value) => value?.name === name && Array.isArray(value.routes))
    if (!module) throw new Error(`src/modules/${name}/index.ts exports no module named ${name}`)
    return module.routes.map(({ id }) => id)
  } finally {
    fs.rmSync(outfile, { force: true })
  }
}

/** In one run, so that PostgreSQL is started and the application loaded once; only the matrices are filtered. */
async function runTests(name, operationIds) {
  const vitest = await createVitest('test', { root, watch: false, maxWorkers: 2 })
  try {
    await vitest.standalone()
    const whole = await vitest.globTestSpecifications([`src/modules/${name}/`, 'test/architecture.test.ts'])
    const testNamePattern = new RegExp(`'(${operationIds.join('|')})'`)
    const filtered = (await vitest.globTestSpecifications(matrices)).map(({ project, moduleId }) =>
      project.createSpecification(moduleId, { testNamePattern }),
    )
    const { testModules, unhandledErrors } = await vitest.runTestSpecifications([...filtered, ...whole])
    const expected = whole.length + matrices.length
    return unhandledErrors.length === 0 && testModules.length === expected && testModules.every((each) => each.ok())
  } finally {
    await vitest.close()
  }
}

const [name] = process.argv.slice(2)
const names = fs.readdirSync(path.join(root, 'src/modules'))
if (!names.includes(name)) {
  console.error(`Usage: npm run test:module -- <name>\nNames: ${names.join(', ')}`)
  process.exit(2)
}
const started = performance.now()
const operationIds = await readOperationIds(name)
const [areTypesOk, areTestsOk] = await Promise.all([checkTypes(), runTests(name, operationIds)])
console.log(`${areTypesOk ? 'ok    ' : 'FAILED'} types`)
console.log(
  `${areTestsOk ? 'ok    ' : 'FAILED'} tests of ${name} and ${operationIds.length} operations in the matrices`,
)
console.log(`${((performance.now() - started) / 1000).toFixed(0)} s`)
process.exit(areTypesOk && areTestsOk ? 0 : 1)
