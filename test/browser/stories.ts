/** Stories of a browser file: each is independent of the others, so that a commit can run a sample of them. */
import { announceSampling, sample } from '../support/sampling.ts'

/** Imports the chosen ones in their order. Those that are left out are named in the output. */
export async function importStories(
  label: string,
  stories: Readonly<Record<string, () => Promise<unknown>>>,
  count: number,
): Promise<void> {
  const names = Object.keys(stories)
  const chosen = sample(names, count, label)
  const others = names.filter((name) => !chosen.includes(name))
  announceSampling(`${label}, left out ${others.join(', ') || 'nothing'}`)
  for (const name of chosen) await stories[name]?.()
}
