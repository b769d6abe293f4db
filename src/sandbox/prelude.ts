/**
 * Runs in every context before the plugin: removes what is not deterministic, freezes the built-ins and returns the functions by
 * which the host calls the plugin. The text is part of the sandbox hash: a change needs a new build (see builds.ts).
 */
export const PRELUDE_1 = `'use strict';
(function (rules, findEntry) {
  const { parse, stringify } = JSON;
  const { create, defineProperty, freeze, getOwnPropertyNames, getPrototypeOf, keys } = Object;
  const { isArray } = Array;
  const { isFinite } = Number;
  const ObjectPrototype = Object.prototype;
  const NativeReferenceError = ReferenceError;
  const NativeInternalError = InternalError;
  const NativeTypeError = TypeError;
  const text = String;

  /* Errors that the prelude itself throws, with their reason. */
  const faults = new WeakMap();
  const getFault = WeakMap.prototype.get.bind(faults);
  const setFault = WeakMap.prototype.set.bind(faults);
  const createFault = (reason, message) => {
    const error = new NativeTypeError(message);
    setFault(error, reason);
    return error;
  };
  const refuseUse = (name) => function () {
    throw createFault('not_available', name + ' is not available in a plugin');
  };

  delete globalThis.eval;
  delete globalThis.SharedArrayBuffer;
  defineProperty(Math, 'random', { value: refuseUse('Math.random') });
  const noFunction = refuseUse('The Function constructor');
  defineProperty(noFunction, 'prototype', { value: Function.prototype });
  for (const each of [function () {}, function* () {}, async function () {}, async function* () {}]) {
    defineProperty(getPrototypeOf(each), 'constructor', { value: noFunction });
  }
  globalThis.Function = noFunction;

  /* A frozen prototype would refuse own properties of the same name, such as the name of an error class. */
  const allowOverride = (prototype, name) => {
    const value = prototype[name];
    defineProperty(prototype, name, {
      get() {
        return value;
      },
      set(next) {
        if (this === prototype) throw new NativeTypeError("'" + name + "' is read-only");
        defineProperty(this, name, { value: next, writable: true, enumerable: true, configurable: true });
      },
    });
  };
  for (const name of ['constructor', 'toString', 'toLocaleString', 'valueOf', 'hasOwnProperty']) {
    allowOverride(ObjectPrototype, name);
  }
  for (const type of [Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError, AggregateError]) {
    for (const name of ['constructor', 'name', 'message']) allowOverride(type.prototype, name);
  }

  const freezeAll = (value) => {
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return;
    freeze(value);
    if (typeof value === 'function' && value.prototype) freeze(value.prototype);
  };
  for (const name of getOwnPropertyNames(globalThis)) if (name !== 'globalThis') freezeAll(globalThis[name]);
  const iterators = [
    [][Symbol.iterator](), ''[Symbol.iterator](), new Map()[Symbol.iterator](), new Set()[Symbol.iterator](),
    ''.matchAll(/x/g), (function* () {})(), (async function* () {})(), [].values().map(text), Iterator.from({ next: text }),
  ];
  for (const iterator of iterators) {
    for (let each = getPrototypeOf(iterator); each !== null; each = getPrototypeOf(each)) freeze(each);
  }
  for (const each of [function () {}, function* () {}, async function () {}, async function* () {}, Uint8Array]) {
    freeze(getPrototypeOf(each));
    freezeAll(getPrototypeOf(each).prototype);
  }
  freeze(globalThis);

  const readEntry = (list_key, key) => {
    if (typeof list_key !== 'string' || typeof key !== 'string') {
      throw new NativeTypeError('lists.get takes a list key and the key of an entry, both strings');
    }
    /* The host reads texts up to U+0000: another key would be looked up. */
    for (const each of [list_key, key]) {
      if (!each.isWellFormed() || each.includes('\\u0000')) {
        throw new NativeTypeError('A key that is looked up must be valid Unicode without U+0000');
      }
    }
    return findEntry(list_key, key);
  };
  const MISSING = 'missing';
  const lists = freeze({
    get(list_key, key) {
      const found = readEntry(list_key, key);
      if (found === MISSING) throw new NativeTypeError('The entry is not supplied');
      return parse(found);
    },
    getMany(list_key, wanted) {
      if (!isArray(wanted)) throw new NativeTypeError('lists.getMany takes a list key and an array of keys');
      const found = [];
      let isComplete = true;
      for (let index = 0; index < wanted.length; index++) {
        found[index] = readEntry(list_key, wanted[index]);
        if (found[index] === MISSING) isComplete = false;
      }
      if (!isComplete) throw new NativeTypeError('Not all entries are supplied');
      for (let index = 0; index < found.length; index++) found[index] = parse(found[index]);
      return found;
    },
  });

  const UNDEFINED = /^'([A-Za-z]+)' is not defined$/;
  const clip = (value, length) => (typeof value === 'string' ? value.slice(0, length) : '');

  /* What the host needs to know of a thrown value. Reading it may run code of the plugin, which costs fuel. */
  const describe = (error, reason) => {
    let name = '';
    let message = '';
    let stack = '';
    let found = reason;
    try {
      if (typeof error === 'object' && error !== null) {
        name = clip(error.name, 100);
        message = clip(error.message, 1000);
        stack = clip(error.stack, rules.stack_length);
        const fault = getFault(error);
        const missing = error instanceof NativeReferenceError ? UNDEFINED.exec(message) : null;
        if (fault !== undefined) {
          found = fault;
          name = '';
        } else if (missing !== null && missing[1] === 'require') {
          found = 'imports';
          name = '';
          message = 'A plugin is one module and cannot import another: require';
        } else if (missing !== null && rules.removed.includes(missing[1])) {
          found = 'not_available';
          name = '';
          message = missing[1] + ' is not available in a plugin';
        } else if (error instanceof NativeInternalError && message === 'out of memory') found = 'memory';
        else if (error instanceof NativeInternalError && message === 'stack overflow') found = 'memory';
      } else message = clip(text(error), 1000);
    } catch {
      message = 'The thrown value cannot be described';
    }
    return '-' + stringify({ reason: found, message: name === '' ? message : name + ': ' + message, stack, type: name });
  };

  const describePath = (path) => (path === '' ? 'The result' : 'The member ' + path);

  /* Copies the result, so that no getter, proxy or toJSON of the plugin takes part in writing it. */
  const toPlain = (value, depth, path, state) => {
    if (++state.count > rules.output_nodes) throw createFault('output_too_large', 'The result has too many members');
    const kind = typeof value;
    if (kind === 'string') {
      if (!value.isWellFormed()) throw createFault('output_not_json', describePath(path) + ' is not valid Unicode');
      return value;
    }
    if (kind === 'boolean' || value === null) return value;
    if (kind === 'number') {
      if (!isFinite(value)) throw createFault('output_not_json', describePath(path) + ' is ' + value);
      return value;
    }
    if (kind !== 'object') throw createFault('output_not_json', describePath(path) + ' is of type ' + kind);
    if (depth === rules.output_depth) {
      const limit = rules.output_depth + ' levels';
      throw createFault('output_not_json', 'The result contains itself or is nested deeper than ' + limit);
    }
    if (isArray(value)) {
      const copy = [];
      for (let index = 0; index < value.length; index++) {
        copy[index] = toPlain(value[index], depth + 1, path + '/' + index, state);
      }
      return copy;
    }
    const prototype = getPrototypeOf(value);
    if (prototype !== ObjectPrototype && prototype !== null) {
      const type = prototype.constructor;
      const name = typeof type === 'function' ? clip(type.name, 50) : '';
      throw createFault('output_not_json', describePath(path) + ' is an instance of ' + (name || 'a class'));
    }
    const copy = create(null);
    for (const name of keys(value)) {
      const member = value[name];
      if (member === undefined) continue;
      if (!name.isWellFormed()) throw createFault('output_not_json', describePath(path) + ' has a name that is not valid Unicode');
      copy[name] = toPlain(member, depth + 1, path + '/' + clip(name, 50), state);
    }
    return copy;
  };

  const call = (entryPoint, entry, argumentsText) => {
    const values = parse(argumentsText);
    const given = entryPoint === 'factor' ? [values[0], lists, ...values.slice(1)] : values;
    try {
      const written = stringify(toPlain(entry(...given), 0, '', { count: 0 }));
      if (written.length > rules.output_bytes) throw createFault('output_too_large', 'The result is too large');
      return '+' + written;
    } catch (error) {
      return describe(error, 'threw');
    }
  };

  return { call, describe };
})`
