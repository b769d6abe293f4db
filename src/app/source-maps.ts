/**
 * Stack traces that name lines of the sources instead of the bundle. Node's own support parses the map of every file when it is
 * loaded, which takes longer than most commands run; here a map is read when a stack of its file is first shown.
 */
import fs from 'node:fs'
import { SourceMap, type SourceMapPayload } from 'node:module'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** A place in a file of the bundle, as V8 writes it. */
const PLACE = /(file:\/\/[^\s()]+\.mjs):(\d+):(\d+)/g

/** Concerns stacks that are formatted from now on. Files outside the folder keep their own places. */
export function mapStackTraces(folder: string): void {
  const prefix = pathToFileURL(path.join(folder, path.sep)).href
  const maps = new Map<string, SourceMap | null>()
  const toSource = (place: string, url: string, line: string, column: string): string => {
    if (!url.startsWith(prefix)) return place
    if (!maps.has(url)) maps.set(url, loadMap(fileURLToPath(url)))
    const entry = maps.get(url)?.findEntry(Number(line) - 1, Number(column) - 1)
    if (!entry || !('originalSource' in entry)) return place
    const file = new URL(entry.originalSource, url)
    return `${fileURLToPath(file)}:${entry.originalLine + 1}:${entry.originalColumn + 1}`
  }
  Error.prepareStackTrace = (error, frames) =>
    [describeError(error), ...frames.map((frame) => `    at ${String(frame).replaceAll(PLACE, toSource)}`)].join('\n')
}

/** As V8 begins a stack; an object with a broken `toString` has one too. */
function describeError(error: unknown): string {
  try {
    return String(error)
  } catch {
    return 'Error'
  }
}

/** Null without a usable map: a build may have replaced the file, and the place in the bundle is better than none. */
function loadMap(file: string): SourceMap | null {
  try {
    return new SourceMap(JSON.parse(fs.readFileSync(`${file}.map`, 'utf8')) as SourceMapPayload)
  } catch {
    return null
  }
}
