/**
 * `npm run acceptance -- matrices`: every test file that samples a matrix in `npm test`, with the matrix whole. `--only <file>` runs
 * one of them. Prints one line of JSON and exits 0 or 1.
 */
import fs from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { readProject } from '#app/project.ts'
import { runVitest } from './support/vitest-run.ts'

const { values } = parseArgs({ options: { only: { type: 'string' } } })
const { root } = readProject()
const sampling = /from '[^']*(support\/sampling|\/stories)\.ts'/

/** The file itself, or one of the files that hold its tests. */
function hasSampledMatrix(file: string): boolean {
  const text = fs.readFileSync(path.join(root, file), 'utf8')
  const parts = [...text.matchAll(/^import '(\.\/[^']+)'$/gm)].map(([, name = '']) => name)
  return sampling.test(text) || parts.some((name) => hasSampledMatrix(path.posix.join(path.posix.dirname(file), name)))
}

const files = ['test', 'src']
  .flatMap((folder) =>
    fs
      .readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
      .map((file) => path.posix.join(folder, file.replaceAll(path.sep, '/'))),
  )
  .filter((file) => file.endsWith('.test.ts') && hasSampledMatrix(file))
  .filter((file) => values.only === undefined || file === values.only)

const { passed, failed } = await runVitest({ root, files, env: { PROBITY_TEST_WHOLE: '1' } })
const isPassed = files.length > 0 && passed > 0 && failed.length === 0
console.log(JSON.stringify({ run: 'matrices', files, tests: passed, failed, passed: isPassed }))
process.exitCode = isPassed ? 0 : 1
