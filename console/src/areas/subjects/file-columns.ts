/** How the columns of a CSV file of subjects are read. Pure; the server reads them by the same rule. */

const PREFIX = 'attributes.'
const MEMBERS = ['external_id', 'subject_type', 'name', 'segment']
const REQUIRED = ['subject_type', 'name']

/** The names in the first line. A quoted name may hold the separator. */
export function readColumns(text: string): string[] {
  const [line = ''] = text.replace(/^\u{feff}/u, '').split(/\r?\n/)
  const separator = [',', ';', '\t'].toSorted(
    (one, two) => line.split(two).length - line.split(one).length,
  )[0] as string
  const cells = line.match(new RegExp(`("([^"]|"")*"|[^${separator}])+`, 'g')) ?? []
  return cells
    .map((cell) =>
      cell
        .trim()
        .replace(/^"(.*)"$/, '$1')
        .replaceAll('""', '"'),
    )
    .filter((name) => name !== '')
}

export function sortColumns(columns: readonly string[]) {
  const attributes = columns.filter((name) => !MEMBERS.includes(name))
  return {
    record: columns.filter((name) => MEMBERS.includes(name)),
    attributes: attributes.map((name) => (name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name)),
    missing: REQUIRED.filter((name) => !columns.includes(name)),
  }
}
