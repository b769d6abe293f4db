/**
 * The process that typesets one document: a task as JSON on standard input, the PDF on standard output. The compiler is native code: its memory
 * is not limited by the heap, and no timer runs while it works, so a thread beside it ends the process at its limits.
 */
import fs from 'node:fs'
import * as modules from 'node:module'
import { isMainThread, Worker, workerData } from 'node:worker_threads'
import { type CompileTask, exitCodes } from './compile-task.ts'

interface Compiler {
  pdf(source: object, options: object): Buffer
}
interface CompilerPackage {
  readonly NodeCompiler: { create(options: object): Compiler }
}

const CHECK_MS = 20
const MIB = 1024 * 1024

/** Ends the process whatever its main thread does. */
function watchLimits({ time_limit_ms, memory_limit_mib }: CompileTask): void {
  const started = performance.now()
  setInterval(() => {
    if (process.memoryUsage.rss() > memory_limit_mib * MIB) endProcess(exitCodes.memory)
    if (performance.now() - started > time_limit_ms) endProcess(exitCodes.time)
  }, CHECK_MS)
}

/** `process.exit` of a thread ends only the thread. */
function endProcess(code: number): void {
  fs.writeSync(2, `${code}\n`)
  process.kill(process.pid, 'SIGKILL')
}

const end = (code: number, message: string): never => {
  fs.writeSync(2, `${code}\n${message}`)
  process.exit(code)
}

function loadPackage(names: readonly string[]): { loaded: CompilerPackage; version: string } {
  const require = modules.createRequire(import.meta.url)
  const problems: string[] = []
  for (const name of names) {
    try {
      const { version } = require(`${name}/package.json`) as { version: string }
      return { loaded: require(name) as CompilerPackage, version }
    } catch (error) {
      problems.push((error as Error).message)
    }
  }
  return end(exitCodes.unavailable, problems.join('\n'))
}

function compile({ NodeCompiler }: CompilerPackage, task: NonNullable<CompileTask['document']>): Buffer {
  const { source, inputs, fonts, workspace, created_s } = task
  const fontBlobs = fonts.map((file) => fs.readFileSync(file))
  const compiler = NodeCompiler.create({ workspace, fontArgs: [{ fontBlobs }] })
  try {
    return compiler.pdf(
      { mainFileContent: source, inputs },
      { pdfStandard: 'a-2a', pdfTags: true, creationTimestamp: created_s },
    )
  } catch (error) {
    return end(exitCodes.refused, (error as Error).message)
  }
}

function writeAll(bytes: Buffer): void {
  for (let written = 0; written < bytes.length; ) {
    try {
      written += fs.writeSync(1, bytes, written)
    } catch (error) {
      // The pipe is full: the reader has not taken the last part yet.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
    }
  }
}

function main(): void {
  const task = JSON.parse(fs.readFileSync(0, 'utf8')) as CompileTask
  const watcher = new Worker(new URL(import.meta.url), { workerData: task, execArgv: [], env: {} })
  watcher.unref()
  const { loaded, version } = loadPackage(task.packages)
  if (task.document) writeAll(compile(loaded, task.document))
  else writeAll(Buffer.from(JSON.stringify({ version })))
  process.exit(0)
}

if (isMainThread) main()
else watchLimits(workerData as CompileTask)
