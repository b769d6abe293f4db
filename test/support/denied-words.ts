/**
 * Words that are not used in names, comments, test titles, log lines, texts of the console and documents, each with what to
 * write instead. They are metaphors, or old names for mechanisms that have a common name in the field.
 */
export interface DeniedWord {
  /** Whole words, in lower case; a regular expression may name several forms. */
  readonly word: string
  readonly instead: string
  /** Uses of the word that are right, in lower case. */
  readonly allowed?: readonly string[]
}

export const deniedWords: readonly DeniedWord[] = [
  // Old names of mechanisms.
  {
    word: 'walls?',
    instead: 'tenant isolation policy',
    // A function and a policy of landed migrations, and the old name in the ADR that replaced it.
    allowed: ['app.wall', 'policy wall on', 'wall clock', '`walls`', '`checks.walls`'],
  },
  { word: 'doors?', instead: 'public interface, load shedding' },
  { word: 'flights?', instead: 'pipeline, batch', allowed: ['in flight', 'in-flight'] },
  { word: 'convoys?', instead: 'pipeline' },
  { word: 'passengers?', instead: 'pending read' },
  { word: 'boards|boarding', instead: 'submit' },
  { word: 'parking|parked', instead: 'idle' },
  { word: 'pictures?', instead: 'snapshot, cached status' },
  { word: 'standing', instead: 'tenant status' },
  { word: 'remember|remembers|remembered|remembering', instead: 'cache, store' },
  { word: 'forget|forgets|forgetful|forgotten', instead: 'discard, clear, omit' },
  { word: 'beforehand', instead: 'precompute, before' },
  { word: 'aside', instead: 'buffer, separate' },
  { word: 'insists?', instead: 'assert, require' },
  { word: 'suppose|supposes|supposed', instead: 'what if, assume' },
  { word: 'farewell', instead: 'connection close header' },
  { word: 'furnish|furnishes|furnished', instead: 'set up, create' },
  { word: 'torture', instead: 'fuzz, stress' },

  // Metaphors.
  {
    word: 'houses?',
    instead: 'a name that says what the fixture starts',
    // Usual expressions of banks, in sample data.
    allowed: ['house view', 'house%20view', 'house rule', 'trading house'],
  },
  { word: 'rooms?', instead: 'buffer, capacity, space' },
  { word: 'scenes?', instead: 'setup' },
  { word: 'strangers?', instead: 'unauthenticated caller, other tenant' },
  { word: 'crowds?', instead: 'load, concurrent clients' },
  { word: 'hurry', instead: 'timeout, abort' },
  { word: 'guests?', instead: 'caller' },
  { word: 'innocents?', instead: 'other tenants, unrelated' },
  { word: 'farce|mischief|quarrel|quarrels', instead: 'conflict' },
  { word: 'landed on|lands? on its', instead: 'is stored, ends' },

  // Literary turns of phrase.
  { word: 'told', instead: 'reported, returned, notified' },
  { word: 'anew', instead: 'again' },
  { word: 'in vain', instead: 'without success' },
  { word: 'stood', instead: 'was' },
  { word: 'stands', instead: 'is', allowed: ['stands for', 'stands out'] },
  { word: 'stand on', instead: 'depend on, use' },
  { word: 'at the gate', instead: 'waits for the lock' },
  { word: 'leads? through|led through', instead: 'contains' },
  { word: 'mend|mends|mended|mending', instead: 'repair' },
  { word: 'as it must be', instead: 'valid, correct' },
  { word: 'keeps account', instead: 'records' },
  { word: 'of its own accord|by and by|henceforth|thereof|whereof|hitherto|lest|naught|aught', instead: 'plain words' },
]
