/**
 * A small measurement of a bus that runs, with clients of the SDK. What the command line makes of
 * it is not here.
 */
package io.eventbus.cli.bench;
