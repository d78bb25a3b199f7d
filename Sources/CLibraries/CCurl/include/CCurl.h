/// libcurl, loaded at its first use: linked in, it would add 9 ms to the start of every command, also of those that ask
/// no server. The types and constants are those of its own header.
#ifndef OTASK_CCURL_H
#define OTASK_CCURL_H

#include <curl/curl.h>

/// Loads and initialises the library, once in a process. NULL, or why it can't be used. Comes before any other call.
const char *otask_curl_load(void);

CURL *otask_curl_easy_init(void);
void otask_curl_easy_cleanup(CURL *easy);
const char *otask_curl_easy_strerror(CURLcode code);

// curl_easy_setopt and curl_easy_getinfo take any type, which Swift can't call: one name a type.
CURLcode otask_curl_set_number(CURL *easy, CURLoption option, curl_off_t number);
/// Only http and https; and no waiting for the look-up of a name when a transfer ends. The options' names depend on the
/// header's version.
CURLcode otask_curl_set_boundaries(CURL *easy);
CURLcode otask_curl_set_text(CURL *easy, CURLoption option, const char *text);
CURLcode otask_curl_set_pointer(CURL *easy, CURLoption option, void *pointer);
CURLcode otask_curl_set_sink(CURL *easy, CURLoption option, curl_write_callback sink);
CURLcode otask_curl_get_number(CURL *easy, CURLINFO info, curl_off_t *number);
CURLcode otask_curl_get_pointer(CURL *easy, CURLINFO info, void **pointer);

struct curl_slist *otask_curl_slist_append(struct curl_slist *list, const char *text);
void otask_curl_slist_free_all(struct curl_slist *list);

CURLM *otask_curl_multi_init(void);
void otask_curl_multi_cleanup(CURLM *multi);
CURLMcode otask_curl_multi_set_number(CURLM *multi, CURLMoption option, long number);
CURLMcode otask_curl_multi_add_handle(CURLM *multi, CURL *easy);
CURLMcode otask_curl_multi_remove_handle(CURLM *multi, CURL *easy);
CURLMcode otask_curl_multi_perform(CURLM *multi, int *running);
CURLMcode otask_curl_multi_poll(CURLM *multi, int milliseconds);
CURLMcode otask_curl_multi_wakeup(CURLM *multi);
/// The next transfer that ended and how; NULL when there is none.
CURL *otask_curl_multi_ended(CURLM *multi, CURLcode *result);

#endif
