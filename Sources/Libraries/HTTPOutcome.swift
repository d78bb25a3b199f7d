import CCurl

extension HTTPTransfer {
    /// What libcurl's result comes to.
    ///
    /// What matters most is whether the request may have been carried out: then it is `cut` or `timedOut`. It surely was
    /// not where no byte of it was written, as without a connection or without trust in the certificate.
    func outcome(_ code: CURLcode) -> Outcome {
        if let problem { return .failure(.badAnswer(problem)) }
        let status = number(CURLINFO_RESPONSE_CODE)
        let response = HTTPClient.Response(status: status, headers: headers, body: answer)
        if code == CURLE_OK {
            // libcurl takes a connection that ends within the headers for a whole answer.
            return hasAllHeaders ? .success(response) : .failure(.cut("the connection was cut in the headers"))
        }
        return .failure(failure(code))
    }

    private func failure(_ code: CURLcode) -> HTTPClientError {
        let said = String(cString: words)
        // Only the address of a proxy holds this sign, and before it a password.
        let reason = (said.isEmpty || said.contains("@") ? String(cString: otask_curl_easy_strerror(code)) : said)
            .firstLowered
        switch code {
        case CURLE_OPERATION_TIMEDOUT: return .timedOut
        case CURLE_COULDNT_RESOLVE_HOST:
            return .unreachable("\(reason); is there a network, and is the address right?")
        case CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY:
            return .unreachable("the proxy of the environment can't be used (\(reason))")
        case CURLE_RECV_ERROR where isRefusedByProxy:
            return .unreachable("the proxy of the environment refuses the connection (\(reason))")
        case CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL, CURLE_BAD_CONTENT_ENCODING, CURLE_WRITE_ERROR:
            return .badAnswer("the answer is no HTTP that can be read (\(reason))")
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS:
            return .unreachable(distrust(reason))
        case CURLE_SSL_CACERT_BADFILE:
            return .unreachable("the file of certificates in SSL_CERT_FILE can't be used (\(reason))")
        case CURLE_SSL_CONNECT_ERROR:
            return .unreachable("no secure connection (\(reason)); does this address speak https?")
        case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_PARTIAL_FILE, CURLE_HTTP2, CURLE_HTTP2_STREAM,
            CURLE_SEND_FAIL_REWIND:
            return .cut("the connection was cut (\(reason))")
        default:
            return number(CURLINFO_REQUEST_SIZE) > 0
                ? .cut("the connection was cut (\(reason))") : .unreachable(reason)
        }
    }

    /// The proxy answered the request for a tunnel, and with a no.
    private var isRefusedByProxy: Bool {
        let status = number(CURLINFO_HTTP_CONNECTCODE)
        return status != 0 && !(200..<300).contains(status)
    }

    /// What is wrong with a certificate, and what to do. The numbers are OpenSSL's `X509_V_ERR_…` (x509_vfy.h); another
    /// library's are its own.
    private func distrust(_ reason: String) -> String {
        let own = "if the server is your own, name the file of its certificate in SSL_CERT_FILE"
        let (what, advice) =
            switch number(CURLINFO_SSL_VERIFYRESULT) {
            case 10: ("has expired", "its owner must renew it, or this machine's clock is wrong")
            case 9: ("isn't valid yet", "this machine's clock may be wrong")
            case 18, 19: ("is signed by itself, not by an authority", own)
            case 2, 20, 21: ("comes from an authority that this machine doesn't know", own)
            case _ where reason.contains("subject name"): ("belongs to another host", "is the address right?")
            default: ("isn't trusted", "is the address right, and this machine's clock?")
            }
        return "its certificate \(what), so nothing was sent; \(advice) (\(reason))"
    }
}

extension String {
    /// For the middle of a sentence; abbreviations stay as they are.
    fileprivate var firstLowered: String {
        guard let first, let second = dropFirst().first, second.isLowercase else { return self }
        return first.lowercased() + dropFirst()
    }
}
