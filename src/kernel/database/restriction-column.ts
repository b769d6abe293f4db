/** What answers say about restrictions: people with access learn that an object is hidden from others. */

/**
 * The restriction of a row while it is in force, as column `restriction_id`. Otherwise null: that something was prepared, or has
 * ended, is for readers of restrictions only. `table` is the alias in the query, if it has one.
 */
export const restrictionInForce = (table?: string): string => {
  const column = table === undefined ? 'restriction_id' : `${table}.restriction_id`
  return `${selectInForce(column)} as restriction_id`
}

/** The same of a row that may belong to two: the first that is in force. */
export const eitherInForce = (table: string): string =>
  `coalesce(${selectInForce(`${table}.restriction_id`)}, ${selectInForce(`${table}.also_restriction_id`)}) as restriction_id`

/** All restrictions that a stored response carries, in the order in which they were noted. `table` is the alias in the query. */
export const answerRestrictions = (table: string): string =>
  `array_remove(array[${table}.object_restriction_id, ${table}.object_also_restriction_id] || ${table}.object_named_restriction_ids, null)`

const selectInForce = (column: string): string =>
  `case when ${column} is not null and app.is_in_force(${column}) then ${column} end`
