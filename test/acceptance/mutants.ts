/**
 * `npm run acceptance -- mutants`: makes each fault of code-mutants.ts in a copy of the project and runs the test files that are
 * to notice it. `--only <part of a name>` runs some of them. Prints one line of JSON and exits 0 when every mutant is killed.
 */
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { readProject } from '#app/project.ts'
import { applyMutant } from './mutants/apply-mutant.ts'
import { type CodeMutant, codeMutants } from './mutants/code-mutants.ts'
import { runVitest } from './support/vitest-run.ts'

const { values } = parseArgs({ options: { only: { type: 'string' } } })
const { root } = readProject()
/** No killer needs a browser: it is not unpacked into the copy. */
const env = { CHROME_PATH: path.join(root, 'no-browser') }
const mutants = codeMutants.filter(({ name }) => name.includes(values.only ?? ''))

/** The files git knows or would take, as they are now; the packages are shared. */
function copyProject(): string {
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'probity-mutants-')))
  // As root the database runs as somebody else, who must be able to enter.
  fs.chmodSync(folder, 0o755)
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root })
  for (const file of listed.toString().split('\0').filter(Boolean)) {
    if (!fs.existsSync(path.join(root, file))) continue
    fs.mkdirSync(path.dirname(path.join(folder, file)), { recursive: true })
    fs.copyFileSync(path.join(root, file), path.join(folder, file))
  }
  fs.symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'))
  return folder
}

async function runMutant(folder: string, mutant: CodeMutant) {
  const file = path.join(folder, mutant.file)
  const original = fs.readFileSync(file, 'utf8')
  fs.writeFileSync(file, applyMutant(original, mutant))
  try {
    const { failed, broken_files } = await runVitest({ root: folder, files: mutant.killers, env })
    // A file that does not load says nothing: the fault must be noticed by a test.
    const isKilled = failed.length > broken_files.length && broken_files.length === 0
    console.error(`${isKilled ? 'killed' : 'SURVIVED'}: ${mutant.name} (${failed[0] ?? 'nothing failed'})`)
    return { name: mutant.name, isKilled, by: failed.slice(0, 3) }
  } finally {
    fs.writeFileSync(file, original)
  }
}

const folder = copyProject()
try {
  // Without a fault the killers pass: else they would kill anything.
  const baseline = await runVitest({
    root: folder,
    files: [...new Set(mutants.flatMap(({ killers }) => killers))],
    env,
  })
  const results = []
  if (baseline.failed.length === 0) for (const mutant of mutants) results.push(await runMutant(folder, mutant))
  const survived = results.filter(({ isKilled }) => !isKilled).map(({ name }) => name)
  const passed = baseline.failed.length === 0 && mutants.length > 0 && survived.length === 0
  console.log(
    JSON.stringify({
      run: 'mutants',
      mutants: mutants.length,
      killed: results.length - survived.length,
      survived,
      fails_without_a_mutant: baseline.failed,
      passed,
    }),
  )
  process.exitCode = passed ? 0 : 1
} finally {
  fs.rmSync(folder, { recursive: true, force: true })
}
