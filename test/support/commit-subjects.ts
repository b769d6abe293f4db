/** The subjects of commits after a fixed one: an imperative of at most 72 characters, without denied words. */
import { execFileSync } from 'node:child_process'
import { projectRoot } from './database.ts'
import { findDenied } from './find-denied.ts'

/** Commits after this one are checked. */
const FIRST_COMMIT = 'a077602ff4b7bb88e3c28ad5b0a48bfd54708dfd'
const MAX_SUBJECT_LENGTH = 72

export type History =
  | { readonly subjects: readonly string[] }
  /** The first commit is not known here: the history is shallow, or there is none. */
  | { readonly unchecked: number }

export function readHistory(cwd: string = projectRoot, first = FIRST_COMMIT): History {
  const git = (...args: string[]): string[] | null => {
    try {
      const output = execFileSync('git', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
      return output.split('\n').filter((line) => line !== '')
    } catch {
      return null
    }
  }
  const subjects = git('log', '--no-merges', '--format=%s', `${first}..HEAD`)
  if (subjects) return { subjects }
  return { unchecked: Number(git('rev-list', '--count', 'HEAD')?.[0] ?? 0) }
}

/** Imperatives that end like another form of a verb. */
const imperatives = /^(embed|exceed|feed|need|proceed|seed|shed|speed|bring|focus|ping|string)$/
/** The third person, the past and the gerund. */
const otherForms = /[^s]s$|(ed|ing)$|^(made|kept|built|wrote|gave|took|sent|held|was|were|are|does|did)$/
/** Verbs that need no object: what they change is the part. */
const completeAlone = /^(format|regenerate)$/
const PART = /^[\w./-][\w ./:,-]*?: /
/** Landed before the check had its present rules, or past it. */
const exemptSubjects = new Set([
  'console: documents with upload, preview, custody, verification',
  'console: restrictions, access lists, MLRO, and a padlock on every view',
  'imports: read the marker of removed rows although a mapping leaves it out',
  'fixup! console: let the keys of the inbox act on the selection',
  'Update the table of endpoints',
  'Add sources, plugins and the tool protocol to the API and console',
  'Fit the parts of the first hour together',
  'Replace the remaining denied words outside of lists and matrices',
])

/** What is wrong with a subject; empty when nothing is. */
export function checkSubject(subject: string): string[] {
  if (/^Merge /.test(subject)) return []
  const faults = findDenied({ kind: 'document', text: subject }).map((word) => `uses "${word}"`)
  if (exemptSubjects.has(subject)) return faults
  if (subject.length > MAX_SUBJECT_LENGTH) faults.push(`has more than ${MAX_SUBJECT_LENGTH} characters`)
  if (!PART.test(subject)) faults.push('does not begin with the part that changes')
  const change = subject.replace(PART, '')
  const [verb = ''] = change.toLowerCase().split(/[^\w-]/)
  if (otherForms.test(verb) && !imperatives.test(verb)) faults.push(`begins with "${verb}", which is no imperative`)
  if (!/\S\s+\S/.test(change) && !completeAlone.test(change)) faults.push('does not say what changes')
  return faults
}
