/** Formats a condition: references to lists become words, everything else is unchanged. Pure. */
import { formatFieldName } from './definition-model.ts'

const VALUE = String.raw`list\(\s*([a-z0-9_-]+)\s*,\s*("[^"]*"|[^()"]*?)\s*\)\.([A-Za-z0-9_]+)`
const LIST_REFERENCE = new RegExp(String.raw`minor\(\s*${VALUE}\s*\)|${VALUE}`, 'g')

/** `>= minor(list(limits, cash|retail).amount_minor)` → `>= amount minor of cash|retail in limits`. */
export const formatCondition = (test: string): string =>
  test.replaceAll(LIST_REFERENCE, (_, ...found: (string | undefined)[]) => {
    const [list_key = '', key = '', field = ''] = found[0] === undefined ? found.slice(3) : found
    return `${formatFieldName(field)} of ${key.replaceAll('"', '')} in ${list_key}`
  })
