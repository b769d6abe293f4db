/** Formats rows as aligned columns with a header. */

export function formatTable(rows: readonly Readonly<Record<string, unknown>>[]): string {
  const [first] = rows
  if (!first) return 'none'
  const names = Object.keys(first)
  const lines = [names, ...rows.map((row) => names.map((name) => String(row[name] ?? '')))]
  const widths = names.map((_, column) => Math.max(...lines.map((line) => (line[column] as string).length)))
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] as number))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
