/** Makes the fault of a mutant in the text of its file. */
import type { CodeMutant } from './code-mutants.ts'

/** The source with the fault in it; throws where its text does not stand there exactly once. */
export function applyMutant(source: string, { name, file, text, replacement }: CodeMutant): string {
  const parts = source.split(text)
  if (parts.length !== 2) {
    throw new Error(
      `mutant "${name}": ${file} holds its text ${parts.length - 1} times instead of once; adapt code-mutants.ts`,
    )
  }
  return parts.join(replacement)
}
