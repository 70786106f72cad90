/**
 * Small benchmark of a running bus, with clients of the SDK. The command line's output is not here.
 */
package io.eventbus.cli.bench;
